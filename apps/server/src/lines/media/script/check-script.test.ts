import { expect, test } from 'vitest';
import { checkScript } from './check-script.ts';
import type { ScriptStep } from './script.ts';

const questions = { templateFault: () => undefined, speechFault: undefined };
const faultsOf = (...steps: ScriptStep[]) =>
  checkScript(steps, questions).map(({ at, message }) => `${at}: ${message}`);

const hello: ScriptStep = { id: 'hello', type: 'say', text: 'Hello.' };
const choice: ScriptStep = { id: 'choice', type: 'ask', text: 'Press 1.', keys: '12' };

test('a script that is right has no fault', () => {
  const branch: ScriptStep = { id: 'by', type: 'branch', on: 'choice', cases: [{ is: '1', next: 'choice' }] };
  const steps: ScriptStep[] = [
    hello,
    { ...choice, otherwise: 'bye' },
    { ...branch, next: 'out' },
    { id: 'out', type: 'opt_out' },
    { id: 'bye', type: 'say', text: 'Goodbye.' },
    { id: 'end', type: 'hang_up' },
  ];
  expect(faultsOf(...steps)).toEqual([]);
});

test('a case of an answer that each round asks for anew makes no round without a key; another does', () => {
  const bye: ScriptStep = { id: 'bye', type: 'say', text: 'Goodbye.' };
  const again = (on: string): ScriptStep => ({ id: 'by', type: 'branch', on, cases: [{ is: '1', next: 'hello' }] });
  expect(faultsOf(hello, choice, again('choice'), bye)).toEqual([]);
  expect(faultsOf(choice, hello, again('choice'), bye)).toHaveLength(2);
  expect(faultsOf(hello, choice, again('plan'), bye)).toHaveLength(3);
});

test.each<[string, ScriptStep[], string[]]>([
  ['a step that is named twice', [hello, hello], ['steps/1/id: Another step is named hello, too.']],
  ['a way to nowhere', [{ ...hello, next: 'nowhere' }], ['steps/0/next: There is no step nowhere.']],
  [
    'a step that nothing leads to',
    [hello, { id: 'end', type: 'hang_up' }, { ...hello, id: 'again' }],
    ['steps/2: No way leads to this step.'],
  ],
  [
    'a round without a key',
    [hello, { ...choice, otherwise: 'hello', next: 'end' }, { id: 'end', type: 'hang_up' }],
    [
      'steps/0: If no key is pressed, the script comes back to this step without end.',
      'steps/1: If no key is pressed, the script comes back to this step without end.',
    ],
  ],
  ['nothing to say', [{ id: 'hello', type: 'say' }], ['steps/0/text: Give exactly one of text and soundId.']],
  [
    'two things to say',
    [{ ...choice, wrong: { text: 'No.', soundId: 'snd_1' } }],
    ['steps/0/wrong/text: Give exactly one of text and soundId.'],
  ],
  [
    'an answer that is to be said',
    [choice, { ...hello, text: 'You said {{choice}}.' }],
    ['steps/1/text: The answer to choice can not be said: sentences are made before the call.'],
  ],
  [
    'an end that is a key',
    [{ ...choice, endKey: '2', length: 3 }],
    ['steps/0/endKey: 2 is one of the keys, and can not end them.'],
  ],
  ['no time', [{ id: 'back', type: 'call_back' }], ['steps/0/at: Give exactly one of inMinutes and at.']],
  ['nothing to set', [{ id: 'set', type: 'set' }], ['steps/0: Give at least one of data, disposition and converted.']],
])('%s is a fault with its place', (_, steps, faults) => {
  expect(faultsOf(...steps)).toEqual(faults);
});

test('a text that nobody can speak is a fault, and so is a template that is none', () => {
  const speechFault = 'Set SPEECH_URL.';
  expect(checkScript([hello], { ...questions, speechFault })).toEqual([{ at: 'steps/0/text', message: speechFault }]);
  const templateFault = (text: string) => (text.includes('{{') ? 'No template.' : undefined);
  const set: ScriptStep = { id: 'set', type: 'set', data: { day: '{{ a day' } };
  expect(checkScript([set], { ...questions, templateFault })).toEqual([
    { at: 'steps/0/data/day', message: 'No template.' },
  ]);
});

import { expect, test } from 'vitest';
import { checkScript } from './check-script.ts';
import { answerPlace, type ScriptStep } from './script.ts';
import { beginning, type Script, type Walk, type WalkEffect, type WalkInput, walkOn } from './walk.ts';

/** Walks by inputs in words: `said`, `late`, `served`, `failed`, or a key. */
function walk(steps: ScriptStep[], inputs: string, variables: Record<string, unknown> = {}): string[] {
  const script: Script = { steps, variables };
  let at = beginning;
  const told: string[] = [];
  for (const input of ['began', ...inputs.split(' ').filter(Boolean)]) {
    const moved = walkOn(script, at, inputOf(input));
    at = moved.walk;
    told.push(...moved.effects.map(inWords));
  }
  return told;
}

function inputOf(word: string): WalkInput {
  if (word === 'began' || word === 'said' || word === 'late') return { type: word };
  if (word === 'served' || word === 'failed') return { type: 'served', isDone: word === 'served' };
  return { type: 'key', key: word };
}

function inWords(effect: WalkEffect): string {
  if (effect.do === 'say') return effect.utterance.text!;
  if (effect.do === 'wait') return `wait ${effect.seconds}`;
  if (effect.do === 'keep') return JSON.stringify(effect.result);
  if (effect.do === 'end') return `end${effect.fault === undefined ? '' : `: ${effect.fault}`}`;
  if (effect.do === 'press_keys') return `press ${effect.digits}`;
  if (effect.do === 'call_back') return `call back ${effect.inMinutes ?? effect.at}`;
  return effect.do;
}

const say = (id: string, more: object = {}): ScriptStep => ({ id, type: 'say', text: id, ...more });
const ask = (more: object = {}): ScriptStep => ({ id: 'ask', type: 'ask', text: 'ask', ...more });

test.each<[string, ScriptStep[], string, string[]]>([
  ['sentences follow each other, and then it hangs up', [say('a'), say('b')], 'said said', ['a', 'b', 'end']],
  ['a key ends a sentence', [say('a'), say('b')], '5 said', ['a', 'hush', 'b', 'end']],
  ['but not one that is heard to its end', [say('a', { bargeIn: false }), say('b')], '5 said said', ['a', 'b', 'end']],
  ['a key answers the question behind the sentence that it ends', [say('a'), ask(), say('b')], '5', ['a', 'hush', 'b']],
  ['an answer ends a question', [ask(), say('b')], '3 said', ['ask', 'hush', 'b', 'end']],
  ['and comes while it listens', [ask(), say('b')], 'said 3', ['ask', 'wait 5', 'wait_no_more', 'b']],
  [
    'a wrong key has it asked again, and then it goes on',
    [ask({ keys: '12', wrong: { text: 'no' } }), say('b')],
    'said 9 said said 8',
    ['ask', 'wait 5', 'wait_no_more', 'no', 'ask', 'wait 5', 'wait_no_more', 'b'],
  ],
  [
    'so has silence',
    [ask({ nothing: { text: 'well' }, attempts: 2, timeoutSeconds: 3, otherwise: 'c' }), say('b'), say('c')],
    'said late said said late said',
    ['ask', 'wait 3', 'well', 'ask', 'wait 3', 'c', 'end'],
  ],
  [
    'several keys are one answer',
    [ask({ length: 3, saveAs: 'code' })],
    'said 1 2 3',
    [
      'ask',
      'wait 5',
      'wait_no_more',
      'wait 5',
      'wait_no_more',
      'wait 5',
      'wait_no_more',
      '{"data":{"code":"123"}}',
      'end',
    ],
  ],
  [
    'which a key ends, or silence if one could',
    [ask({ length: 9, endKey: '#', saveAs: 'code' }), ask({ id: 'b', length: 9, endKey: '#', saveAs: 'b' })],
    '4 2 # 7 late',
    [
      ...['ask', 'hush', 'wait 5', 'wait_no_more', 'wait 5', 'wait_no_more', '{"data":{"code":"42"}}', 'ask'],
      ...['hush', 'wait 5', '{"data":{"code":"42","b":"7"}}', 'end'],
    ],
  ],
  [
    'too few keys are wrong',
    [ask({ length: 2, attempts: 1, otherwise: 'no' }), say('b'), say('no')],
    'said 1 late',
    ['ask', 'wait 5', 'wait_no_more', 'wait 5', 'no'],
  ],
  [
    'the server is waited for, and its fault is the end',
    [{ id: 'out', type: 'opt_out' }, { id: 'back', type: 'call_back', at: '09:30' }, say('b')],
    'served failed',
    ['opt_out', 'call back 09:30', 'end: The server could not do what the script asked for.'],
  ],
  [
    'keys of a menu are pressed, and waited for',
    [{ id: 'menu', type: 'press_keys', digits: '1W2' }, say('b')],
    '5 served said',
    ['press 1W2', 'b', 'end'],
  ],
  [
    'unless it says what then',
    [
      { id: 'back', type: 'call_back', inMinutes: 5, otherwise: 'sorry' },
      say('thanks', { next: 'sorry' }),
      say('sorry'),
    ],
    'failed said',
    ['call back 5', 'sorry', 'end'],
  ],
])('%s', (_, steps, inputs, effects) => {
  expect(walk(steps, inputs)).toEqual(effects);
});

test('it goes on by answers and by variables, and keeps what it finds', () => {
  const steps: ScriptStep[] = [
    { id: 'by', type: 'branch', on: 'plan', cases: [{ is: 'gold', next: 'ask' }], next: 'bye' },
    ask({ keys: '12' }),
    { id: 'by2', type: 'branch', on: 'ask', cases: [{ is: '1', next: 'yes' }], next: 'bye' },
    {
      id: 'yes',
      type: 'set',
      data: { choice: `key ${answerPlace('ask')} of {{ask}}` },
      converted: true,
      disposition: 'confirmed',
    },
    say('bye'),
  ];
  expect(walk(steps, '', { plan: 'iron' })).toEqual(['bye']);
  expect(walk(steps, '2', { plan: 'gold' })).toEqual(['ask', 'hush', 'bye']);
  expect(walk(steps, '1', { plan: 'gold' })).toEqual([
    'ask',
    'hush',
    '{"data":{"choice":"key 1 of {{ask}}"},"disposition":"confirmed","converted":true}',
    'bye',
  ]);
});

test('an answer that was given before counts no more if none is given', () => {
  const steps: ScriptStep[] = [
    ask({ attempts: 1 }),
    { id: 'by', type: 'branch', on: 'ask', cases: [{ is: '1', next: 'ask' }], next: 'bye' },
    say('bye'),
  ];
  expect(walk(steps, '1 said late')).toEqual(['ask', 'hush', 'ask', 'wait 5', 'bye']);
});

test('a round that takes no time is ended', () => {
  const rounds: ScriptStep[] = [{ id: 'a', type: 'branch', on: 'x', cases: [], next: 'a' }];
  expect(walk(rounds, '')).toEqual(['end: The script goes round without end.']);
});

/** Random numbers by a seed. */
function chances(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * most);
  };
}

function randomSteps(next: (most: number) => number): ScriptStep[] {
  const count = 1 + next(8);
  const id = () => `s${next(count)}`;
  const maybe = <T extends object>(more: () => T): T | Record<never, never> => (next(2) === 0 ? more() : {});
  const to = () => maybe(() => ({ next: id() }));
  return Array.from({ length: count }, (_, at): ScriptStep => {
    const own = { id: `s${at}` };
    const kinds: (() => ScriptStep)[] = [
      () => ({ ...own, type: 'say', text: 'x', ...to(), ...maybe(() => ({ bargeIn: false })) }),
      () => ({ ...own, type: 'ask', text: 'x', keys: '12', ...to(), ...maybe(() => ({ otherwise: id(), length: 2 })) }),
      () => ({ ...own, type: 'branch', on: id(), cases: [{ is: '1', next: id() }], ...to() }),
      () => ({ ...own, type: 'set', converted: true, ...to() }),
      () => ({ ...own, type: 'opt_out', ...to() }),
      () => ({ ...own, type: 'hang_up' }),
    ];
    return kinds[next(kinds.length)]!();
  });
}

/** What may happen in a state, beside keys, which come at any time. */
const happens: Partial<Record<Walk['mode'], WalkInput>> = {
  ...{ saying: { type: 'said' }, asking: { type: 'said' }, listening: { type: 'late' } },
  serving: { type: 'served', isDone: true },
};

test('random walks: what is said, waited for or asked for is one thing at a time, and without keys each ends', () => {
  let ended = 0;
  for (let seed = 1; seed <= 10_000; seed += 1) {
    const next = chances(seed);
    const steps = randomSteps(next);
    if (checkScript(steps, { templateFault: () => undefined, speechFault: undefined }).length > 0) continue;
    const script = { steps, variables: {} };
    let at = beginning;
    let input: WalkInput = { type: 'began' };
    let open: string | undefined;
    for (let moves = 0; at.mode !== 'over'; moves += 1) {
      expect(moves, `seed ${seed}`).toBeLessThan(500);
      const moved = walkOn(script, at, input);
      if (input.type !== 'key') open = undefined;
      for (const effect of moved.effects) {
        expect(open === 'end', `seed ${seed}`).toBe(false);
        if (effect.do === 'hush' || effect.do === 'wait_no_more') open = undefined;
        else if (effect.do !== 'keep') {
          expect(open, `seed ${seed}`).toBeUndefined();
          open = effect.do;
        }
      }
      at = moved.walk;
      const wanted = { saying: 'say', asking: 'say', listening: 'wait', serving: 'opt_out', over: 'end', waiting: '' };
      expect(open, `seed ${seed}`).toBe(wanted[at.mode]);
      // Keys at first; then nobody presses any more.
      const key: WalkInput = { type: 'key', key: '123'[next(3)]! };
      input = moves < 100 && next(3) === 0 ? key : (happens[at.mode] ?? key);
    }
    ended += 1;
  }
  expect(ended).toBeGreaterThan(200);
});

import { expect, test } from 'vitest';
import { type AnsweredBy, evidenceOf, judgeAnswerer, wordOfAgent, wordsOf } from './judge-answerer.ts';

const greeting = (ms: number) => evidenceOf({ type: 'pause', from: 300, until: 300 + ms }, true)!;
const beep = evidenceOf({ type: 'beep', from: 5000, hz: 1000 }, false)!;

test('nobody is known by nothing', () => {
  expect(judgeAnswerer([])).toEqual({ answeredBy: 'unknown', confidence: 0 });
});

test.each<[string, ReturnType<typeof greeting>[], AnsweredBy]>([
  ['a short greeting is a person', [greeting(900)], 'human'],
  ['a long greeting alone is no machine', [greeting(9000)], 'unknown'],
  ['a beep behind it is one', [greeting(9000), beep], 'machine'],
  ['a beep is surer than a short greeting', [greeting(900), beep], 'machine'],
  ['words are', [greeting(900), wordsOf('machine', 0.8, 'leave a message', 800)], 'machine'],
  ['a busy line is nobody', [evidenceOf({ type: 'busy', from: 0, until: 3000 }, false)!], 'unknown'],
  ['a fax machine answers with a beep too', [beep, evidenceOf({ type: 'fax', from: 0, until: 1200 }, false)!], 'fax'],
  [
    'the agent knows it best',
    [beep, wordsOf('machine', 0.93, 'after the beep', 800), wordOfAgent('human', 9000)],
    'human',
  ],
  ['and may doubt', [beep, wordOfAgent('unknown', 9000)], 'unknown'],
])('%s', (_, evidence, answeredBy) => {
  expect(judgeAnswerer(evidence).answeredBy).toBe(answeredBy);
});

test('what speaks for the same counts together', () => {
  const words = wordsOf('machine', 0.8, 'leave a message', 800);
  expect(judgeAnswerer([words, beep]).confidence).toBe(0.97);
});

test('a beep between people makes nobody a machine for sure', () => {
  const inTalk = evidenceOf({ type: 'beep', from: 5000, hz: 1000 }, false, true)!;
  expect(judgeAnswerer([greeting(900), inTalk]).answeredBy).toBe('human');
  expect(judgeAnswerer([inTalk]).confidence).toBe(0.5);
});

test('only the first words of the callee are a greeting', () => {
  expect(evidenceOf({ type: 'pause', from: 5000, until: 5500 }, false)).toBeUndefined();
  expect(evidenceOf({ type: 'speech', from: 300 }, true)).toBeUndefined();
});

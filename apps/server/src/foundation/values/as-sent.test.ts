import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { digestAsSent, noteAsSent, noteAsSentInTurns } from './as-sent.ts';

const atOnce = (text: string) => {
  const body = JSON.parse(text) as object;
  noteAsSent(body);
  return digestAsSent(body);
};
const inTurns = async (text: string) => {
  const body = JSON.parse(text) as object;
  await noteAsSentInTurns(body, () => nextTurn());
  return digestAsSent(body);
};

const same: [string, string][] = [
  ['{"b":1,"a":[{"d":-0,"c":null}]}', '{"a":[{"c":null,"d":0}],"b":1}'],
  ['{"10":1,"9":2,"b":3,"1.5":4,"-1":5,"01":6,"a":7}', '{"9":2,"10":1,"-1":5,"01":6,"1.5":4,"a":7,"b":3}'],
  ['{"4294967295":1,"4294967294":2,"0":3}', '{"0":3,"4294967294":2,"4294967295":1}'],
  ['{"toJSON":1,"__proto__":{"b":[],"a":{}}}', '{"__proto__":{"a":{},"b":[]},"toJSON":1}'],
  ['["é\\ud83d\\ude00\\ud800\\"\\n",true,1e21,1e400]', '["é😀\\ud800\\"\\n",true,1E+21,1e999]'],
];

test.each(same)('the order of keys makes no difference, at once and in turns: %s', async (sent, canonical) => {
  const digest = hash('sha256', JSON.stringify(JSON.parse(canonical)));
  expect([atOnce(sent), await inTurns(sent), atOnce(canonical), await inTurns(canonical)]).toEqual(
    Array.from({ length: 4 }, () => digest),
  );
});

test('a large body is hashed while others have their turns', async () => {
  const recipients = Array.from({ length: 20_000 }, (_, at) => ({ phoneNumber: `+1415${at}`, name: 'Ann' }));
  const text = JSON.stringify({ recipients, note: 'x'.repeat(200_000) });
  let turns = 0;
  const noted = inTurns(text).finally(() => (turns = -turns));
  while (turns >= 0) {
    await nextTurn();
    turns += 1;
  }
  expect(-turns).toBeGreaterThanOrEqual(20);
  expect(await noted).toBe(atOnce(text));
});

test('defaults that are written into a body later are no part of it', async () => {
  const body = { a: 1 } as object;
  await noteAsSentInTurns(body, () => nextTurn());
  Object.assign(body, { b: 2 });
  expect(digestAsSent(body)).toBe(atOnce('{"a":1}'));
  await expect(noteAsSentInTurns(7, () => nextTurn())).resolves.toBeUndefined();
});

import { expect, test } from 'vitest';
import { AgentBudget } from './agent-budget.ts';

/** Sends messages of so many bytes as fast as they are read. @returns the seconds that it took */
function send(messages: number, bytes: number, budget = new AgentBudget(0)): number {
  let now = 0;
  for (let sent = 0; sent < messages; sent += 1) now += budget.spend(bytes, now);
  return now / 1000;
}

test('ten minutes of sound are read at once, in one message or in pieces of a second', () => {
  const second = Math.ceil((8000 * 4) / 3) + 100;
  expect(send(1, 600 * second)).toBe(0);
  expect(send(600, second)).toBe(0);
  expect(send(6000, 300)).toBe(0);
});

test('sound that comes five times as fast as it is played is read for as long as it comes', () => {
  const budget = new AgentBudget(0);
  let slowest = 0;
  for (let frame = 1; frame < 100_000; frame += 1) slowest = Math.max(slowest, budget.spend(300, frame * 4));
  expect(slowest).toBe(0);
});

test('what comes faster is read at the pace of ten seconds a second, or 300 messages', () => {
  expect(send(16, 1024 * 1024)).toBe(64);
  expect(send(9000, 20)).toBe(10);
});

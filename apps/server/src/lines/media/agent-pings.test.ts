import { expect, test } from 'vitest';
import { AgentPings } from './agent-pings.ts';

/** Beats for so long. @returns what was to be done at each */
function beats(pings: AgentPings, count: number, received: (beat: number) => number = () => 0) {
  return Array.from({ length: count }, (_, beat) => pings.beat(received(beat)));
}
const nothing = (count: number) => Array.from({ length: count }, () => undefined);

test('a ping is sent every two seconds, and one that is not answered within five ends it', () => {
  const pings = new AgentPings();
  expect(beats(pings, 2)).toEqual([undefined, { ping: '1' }]);
  pings.answered('1');
  expect(beats(pings, 7)).toEqual([undefined, { ping: '2' }, ...nothing(4), 'unanswered']);
});

test('an agent that sends something meanwhile is not given up, nor is one that pongs unasked answered', () => {
  const pings = new AgentPings();
  expect(beats(pings, 9, (beat) => beat)).toEqual([undefined, { ping: '1' }, ...nothing(7)]);
  pings.answered('');
  expect(beats(pings, 5, () => 8)).toEqual([...nothing(4), 'unanswered']);
});

test('what may be under way is bounded; an answer says that what was sent before its ping was read', () => {
  const pings = new AgentPings();
  const send = (frames: number) => {
    for (let frame = 0; frame < frames; frame += 1) pings.sent();
  };
  send(100);
  beats(pings, 2);
  send(49);
  expect(pings.isBehind).toBe(false);
  send(1);
  expect(pings.isBehind).toBe(true);
  pings.answered('1');
  expect(pings.isBehind).toBe(false);
  send(100);
  expect(pings.isBehind).toBe(true);
});

test('one that takes nothing for ten seconds is given up, though it says something', () => {
  const pings = new AgentPings();
  for (let frame = 0; frame < 150; frame += 1) pings.sent();
  expect(beats(pings, 11, (beat) => beat).at(-1)).toBe('unanswered');
});

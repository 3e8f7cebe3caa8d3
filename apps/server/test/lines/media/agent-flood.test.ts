import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { until } from '../../until.ts';
import { type TestCall, talking, testPlane } from './plane.ts';
import { msOf, tone } from './tone.ts';

const plane = testPlane();
const SECONDS = 5;

/** Sends as fast as the connection takes it. */
async function flood(socket: WebSocket, messages: readonly string[]): Promise<void> {
  for (let at = 0; socket.readyState === socket.OPEN; at += 1) {
    socket.send(messages[at % messages.length]!);
    if (socket.bufferedAmount > 1024 * 1024) await sleep(5);
  }
}

const endOf = ({ events }: TestCall) => events.flatMap((event) => (event.type === 'voice_ended' ? [event.end] : []));

const floods = [
  [JSON.stringify({ event: 'mark', mark: { name: 'a' } })],
  ['['.repeat(4_000_000), JSON.stringify({ event: 'other', more: 'x'.repeat(4_000_000) })],
];

test('agents that flood their connections take no sound from the call beside them, and are let go of', async () => {
  await using quiet = await talking(plane);
  await using marks = await talking(plane);
  await using megabytes = await talking(plane);
  const loud = [marks, megabytes];
  const flooding = loud.map(({ agent }, at) => flood(agent.connections[0]!, floods[at]!));
  const began = performance.now();
  for (let second = 0; second < SECONDS; second += 1) {
    quiet.agent.say(tone(1000, 8000));
    await sleep(1000);
  }
  await until(() => loud.every((call) => endOf(call).length > 0), 20);
  expect(performance.now() - began).toBeGreaterThan(9000);
  for (const call of loud)
    expect(endOf(call)).toEqual([{ reason: 'too_large', text: 'It sent more than is read, for 10 seconds.' }]);
  // Two thirds were lost; a machine that is loaded otherwise may lose some.
  expect(msOf(1000, quiet.peer.sound())).toBeGreaterThan(SECONDS * 700);
  expect(endOf(quiet)).toEqual([]);
  await Promise.all(flooding);
});

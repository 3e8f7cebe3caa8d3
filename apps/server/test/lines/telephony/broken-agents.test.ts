import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { type BrokenAgent, startBrokenAgent } from '../media/broken-agents.ts';
import type { Peer } from '../media/peer.ts';
import { msOf, tone } from '../media/tone.ts';
import { type Calling, startCalling } from './calling.ts';
import { createNetwork, hasNetworks } from './network.ts';

const network = hasNetworks ? createNetwork(1) : undefined;
let calling: Calling;
const callees = new Map<string, { phone: Peer; answeredAt: number; endedAt?: number }>();
beforeAll(async () => {
  network?.showWay();
  // Says hello, and waits.
  calling = await startCalling(async (call, answer) => {
    const phone = await answer();
    const callee: { phone: Peer; answeredAt: number; endedAt?: number } = { phone, answeredAt: performance.now() };
    callees.set(/^sip:([^@]*)@/.exec(call.requestUri)![1]!, callee);
    void call.ended.then(() => {
      callee.endedAt = performance.now();
    });
    await phone.speak(tone(400, 4000));
  }, network?.far[0]);
});
afterAll(async () => {
  await calling[Symbol.asyncDispose]();
  network?.remove();
});

/** Calls somebody through an agent. @returns the callee's side once it was answered, and the call once it is over */
async function callThrough(agent: BrokenAgent, toNumber: string) {
  const over = await calling.call(await calling.agentAt(agent.url), toNumber);
  await until(() => callees.has(toNumber));
  return { callee: callees.get(toNumber)!, over };
}

const unheard = { soundLeftOutMs: 0, framesMissed: 0 };

test.concurrent.each([
  ['key_refused', '+14155550111', { reason: 'crashed', closeCode: 4001, text: 'Incorrect API key provided.' }],
  ['hangs_up', '+14155550112', { reason: 'hung_up', closeCode: 1000 }],
  ['crashes', '+14155550113', { reason: 'crashed', closeCode: 1006 }],
] as const)('an agent of the kind %s was never heard: whoever answered is let go at once', async (fault, to, end) => {
  await using agent = await startBrokenAgent(fault);
  const { callee, over } = await callThrough(agent, to);
  expect(await over()).toMatchObject({ outcome: 'agent_error', agentEnd: { ...end, ...unheard } });
  expect((await over()).agentEnd).not.toHaveProperty('firstSoundMs');
  expect(callee.endedAt! - callee.answeredAt).toBeLessThan(5000);
});

/** Calls through an agent that speaks, breaks it once it is heard, and waits for the end. */
async function brokenMidway(agent: BrokenAgent, to: string, breakIt: () => void) {
  const { callee, over } = await callThrough(agent, to);
  await until(() => msOf(700, callee.phone.sound()) > 100);
  breakIt();
  const brokenAt = performance.now();
  const call = await over();
  return { call, callee, deadMs: callee.endedAt! - brokenAt };
}

const heardOnce = { firstSoundMs: expect.any(Number), soundLeftOutMs: expect.any(Number) };

test.concurrent('an agent that stands still is let go within ten seconds', async () => {
  await using agent = await startBrokenAgent('speaks');
  const { call, deadMs } = await brokenMidway(agent, '+14155550114', () => agent.process.kill('SIGSTOP'));
  expect(call).toMatchObject({ outcome: 'answered', endedBy: 'error', agentEnd: { reason: 'frozen', ...heardOnce } });
  expect(deadMs).toBeLessThan(11_000);
});

describe.skipIf(!network)('a cut cable, which needs networks of its own', () => {
  test.concurrent('an agent whose cable is cut is let go within ten seconds', async () => {
    await using agent = await startBrokenAgent('speaks', { program: network!.behind, host: network!.far[0]! });
    const cut = () => network!.filter('-I', 'FORWARD', '-j', 'DROP');
    const { call, deadMs } = await brokenMidway(agent, '+14155550115', cut);
    expect(call).toMatchObject({ outcome: 'answered', agentEnd: { reason: 'vanished', ...heardOnce } });
    expect(deadMs).toBeLessThan(11_000);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { type BrokenAgent, startBrokenAgent } from '../media/broken-agents.ts';
import type { Peer } from '../media/peer.ts';
import { msOf, tone } from '../media/tone.ts';
import { type Calling, startCalling } from './calling.ts';
import { createNetwork, hasNetworks } from './network.ts';

const network = hasNetworks ? createNetwork(1) : undefined;
let calling: Calling;
/** Who has answered, by number. */
const phones = new Map<string, Peer>();
beforeAll(async () => {
  network?.showWay();
  // Says hello, and waits.
  calling = await startCalling(async (call, answer) => {
    const phone = await answer();
    phones.set(/^sip:([^@]*)@/.exec(call.requestUri)![1]!, phone);
    // Whoever still speaks when the call ends has nowhere to send it.
    await phone.speak(tone(400, 4000)).catch(() => {});
  }, network?.far[0]);
});
afterAll(async () => {
  await calling[Symbol.asyncDispose]();
  network?.remove();
});

/** Calls somebody through an agent. @returns its phone once it has answered, and the call once it is over */
async function callThrough(agent: BrokenAgent, toNumber: string) {
  const over = await calling.call(await calling.agentAt(agent.url), toNumber);
  await until(() => phones.has(toNumber));
  return { phone: phones.get(toNumber)!, over };
}

const unheard = { soundLeftOutMs: 0, framesMissed: 0 };

test.concurrent.each([
  ['key_refused', '+14155550111', { reason: 'crashed', closeCode: 4001, text: 'Incorrect API key provided.' }],
  ['hangs_up', '+14155550112', { reason: 'hung_up', closeCode: 1000 }],
  ['crashes', '+14155550113', { reason: 'crashed', closeCode: 1006 }],
] as const)(
  'an agent of the kind %s was never heard: whoever answered has talked to nobody',
  async (fault, to, end) => {
    await using agent = await startBrokenAgent(fault);
    const { over } = await callThrough(agent, to);
    expect(await over()).toMatchObject({ outcome: 'agent_error', agentEnd: { ...end, ...unheard } });
    expect((await over()).agentEnd).not.toHaveProperty('firstSoundMs');
  },
);

/** Calls through an agent that speaks, breaks it once it is heard, and waits for the end: the long tests look at how soon that is. */
async function brokenMidway(agent: BrokenAgent, to: string, breakIt: () => void) {
  const { phone, over } = await callThrough(agent, to);
  await until(() => msOf(700, phone.sound()) > 100);
  breakIt();
  return over();
}

const heardOnce = { firstSoundMs: expect.any(Number), soundLeftOutMs: expect.any(Number) };

test.concurrent('an agent that stands still is let go', async () => {
  await using agent = await startBrokenAgent('speaks');
  const call = await brokenMidway(agent, '+14155550114', () => agent.process.kill('SIGSTOP'));
  expect(call).toMatchObject({ outcome: 'answered', endedBy: 'error', agentEnd: { reason: 'frozen', ...heardOnce } });
});

describe.skipIf(!network)('a cut cable, which needs networks of its own', () => {
  test.concurrent('an agent whose cable is cut is let go', async () => {
    await using agent = await startBrokenAgent('speaks', { program: network!.behind, host: network!.far[0]! });
    const cut = () => network!.filter('-I', 'FORWARD', '-j', 'DROP');
    const call = await brokenMidway(agent, '+14155550115', cut);
    expect(call).toMatchObject({ outcome: 'answered', agentEnd: { reason: 'vanished', ...heardOnce } });
  });
});

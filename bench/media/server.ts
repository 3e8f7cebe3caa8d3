// The side that is measured: a media plane in a process of its own, asked to open calls.
import { loadConfig } from '../../apps/server/src/config.ts';
import { type CallMedia, startMedia } from '../../apps/server/src/lines/media/media.ts';
import { startServer } from '../../apps/server/src/server.ts';
import { settingsOf, tell } from '../child.ts';
import { log } from '../postgres.ts';

/** Whom calls have instead of agents that are streams: the first ones scripts, and the next ones speech models. */
export interface Voices {
  scripts?: number;
  models?: number;
}

export interface MediaSettings extends Voices {
  rtpPort: number;
  peerPort: number;
  agentPort: number;
  calls: number;
  /** Whether the main thread works half of the time, 20 ms at once. */
  busy: boolean;
  /** The variables of a whole server in the same process, where there is one. */
  environment?: Record<string, string>;
}

/** What it answers when asked for its counts. */
export interface MediaCounts {
  rss: number;
}

const { rtpPort, peerPort, agentPort, calls, busy, environment, scripts = 0, models = 0 } = settingsOf<MediaSettings>();
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };
const { media: plane } = startMedia({
  workers: 1,
  host: '127.0.0.1',
  // The port below is for the call that warms up.
  portMin: rtpPort - 2,
  portMax: rtpPort + 2 * calls - 1,
  peerAddresses: loopback,
  agentAddresses: loopback,
  onThreadDied: (error) => {
    throw error ?? new Error('The media thread died.');
  },
});

/** What all scripts say, longer than what is measured. */
const sentence = new SharedArrayBuffer(8000 * 120);
new Uint8Array(sentence).fill(0x2a);

/** Opens one call, in the order of the ports, and connects its agent. */
async function openCall(number: number) {
  const call = await plane.openCall({
    owner: 'measured',
    silenceMs: 60_000,
    onEvent: () => {},
    onAsk: async () => sentence,
  });
  if (call.rtpPort !== rtpPort + 2 * number) throw new Error(`Port ${rtpPort + 2 * number} is taken.`);
  const port = peerPort + 2 * number;
  await call.setStream({
    remote: { address: '127.0.0.1', port, rtcpAddress: '127.0.0.1', rtcpPort: port + 1 },
    codec: 'PCMU',
    payloadType: 0,
    telephoneEventType: 101,
    receives: new Map([[0, 'PCMU']]),
    packetMs: 20,
    direction: 'sendrecv',
  });
  await call.answer();
  const result = await joined(call, number);
  if (!result.connected) throw new Error(result.text);
}

function joined(call: CallMedia, number: number) {
  if (number < scripts) {
    const steps = [{ id: 'say', type: 'say', soundId: 'sentence' } as const];
    return call.speak('script', { steps, variables: {}, language: 'en', keptTexts: [], readyMs: 0 });
  }
  if (number < scripts + models)
    return call.speak('realtime', {
      ...{ protocol: 'openai_realtime', url: `ws://127.0.0.1:${agentPort}/`, model: 'double', instructions: 'Speak.' },
      ...{ speaksFirst: false, tools: [], silenceMs: 60_000, accountSid: 'account' },
    });
  return call.speak('agent', {
    url: `ws://127.0.0.1:${agentPort}/`,
    headers: {},
    secret: 'secret',
    connectTimeoutMs: 10_000,
    reconnect: false,
    accountSid: 'account',
    callSid: `room_${number}`,
    customParameters: {},
  });
}

// What a process has before its first call is not the calls' memory.
const warm = await plane.openCall({ owner: 'measured', silenceMs: 60_000, onEvent: () => {} });
await warm.close();
const before = process.memoryUsage().rss;
for (let number = 0; number < calls; number += 1) await openCall(number);

if (busy)
  setInterval(() => {
    const until = performance.now() + 20;
    while (performance.now() < until);
  }, 40);

const server = environment && (await startServer({ config: loadConfig(environment), log }));

tell(server ? Number(new URL(server.url).port) : 0, async () => {
  return { rss: process.memoryUsage().rss - before } satisfies MediaCounts;
});

import type { MediaEvent } from '@trunkline/media';
import { afterAll } from 'vitest';
import type { AgentConnection } from '../../../src/lines/media/agent-stream.ts';
import { type CallMedia, type Media, type MediaOptions, startMedia } from '../../../src/lines/media/media.ts';
import { type Agent, startAgent } from './agent.ts';
import { type Peer, startPeer } from './peer.ts';

const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };

/** A media plane on loopback, stopped when the file is done. */
export function testPlane(options: Partial<MediaOptions> = {}): Media {
  const portMin = 21_000 + 2 * Math.floor(Math.random() * 8000);
  const { media: plane } = startMedia({
    workers: 1,
    host: '127.0.0.1',
    portMin,
    portMax: portMin + 199,
    peerAddresses: loopback,
    agentAddresses: loopback,
    onThreadDied: () => {},
    ...options,
  });
  afterAll(() => plane.stop());
  return plane;
}

export const connection = (url: string, changes: Partial<AgentConnection> = {}): AgentConnection => ({
  url,
  headers: {},
  connectTimeoutMs: 2000,
  reconnect: false,
  accountSid: 'AC1',
  callSid: 'room_1',
  customParameters: {},
  ...changes,
});

export interface TestCall {
  media: CallMedia;
  peer: Peer;
  agent: Agent;
  events: MediaEvent[];
}

/** A call that is open, with a peer and an agent that are told of nothing yet. */
export async function openTestCall(plane: Media, silenceMs = 60_000): Promise<TestCall & AsyncDisposable> {
  const events: MediaEvent[] = [];
  const media = await plane.openCall({ owner: 'ours', silenceMs, onEvent: (event) => events.push(event) });
  const [peer, agent] = await Promise.all([startPeer(media.rtpPort), startAgent()]);
  return {
    media,
    peer,
    agent,
    events,
    [Symbol.asyncDispose]: async () => {
      await media.close().catch(() => {});
      peer.close();
      await agent.stop();
    },
  };
}

/** A call that both sides talk on. */
export async function talking(
  plane: Media,
  { stream = {}, agent = {}, recordTo }: TalkingOptions = {},
): Promise<TestCall & AsyncDisposable> {
  const call = await openTestCall(plane);
  await call.media.setStream(call.peer.stream(stream));
  const connected = await call.media.speak('agent', connection(call.agent.url, agent));
  if (!connected.connected) throw new Error(connected.text);
  await call.media.answer(recordTo);
  return call;
}

interface TalkingOptions {
  stream?: Parameters<Peer['stream']>[0];
  agent?: Partial<AgentConnection>;
  recordTo?: string;
}

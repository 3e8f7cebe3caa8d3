import {
  type EndOf,
  type MediaEvent,
  type MediaHandle,
  MediaPlane,
  type MediaPlaneOptions,
  type MediaStats,
} from '@trunkline/media';
import type { AllowedAddresses } from '../../config-values.ts';
import { allWhileAlone, Shares } from '../../foundation/values/limiter.ts';
import { noteLateSound } from '../../foundation/values/sound-first.ts';
import type { StreamEnd } from './agent-end.ts';
import type { AgentConnected, AgentConnection } from './agent-stream.ts';
import type { AnsweredAsk } from './answered/answered-voice.ts';
import { createMediaAddressJudge } from './media-address.ts';
import type { RealtimeAsk } from './realtime/model-session.ts';
import type { RelayAsk } from './relay.ts';
import type { ScriptAsk } from './script/script-voice.ts';

/** Of an agent that has called somebody: what is done about who answers. */
export interface Answering {
  answering?: AnsweredAsk | undefined;
}

/** Who can speak on a call: its agent, or the sound of a test call, which then echoes. */
export type MediaVoices = {
  /** It never fails for the agent's sake: what it answers says whether the agent is there. */
  agent: { ask: AgentConnection & Answering; answer: AgentConnected; end: StreamEnd };
  /** A speech model, as an agent. */
  realtime: { ask: RealtimeAsk & Answering; answer: AgentConnected; end: StreamEnd };
  /** A script, which makes no connection. */
  script: { ask: ScriptAsk & Answering; answer: AgentConnected; end: StreamEnd };
  /** The other party of a call that is handed on. */
  relay: { ask: RelayAsk; answer: undefined; end: StreamEnd };
  /** @param path a WAV file of µ-law */
  sound: { ask: { path: string }; answer: undefined };
};
export type Media = MediaPlane<MediaVoices>;
export type CallMedia = MediaHandle<MediaVoices>;
export type CallMediaEvent = MediaEvent<EndOf<MediaVoices>>;
export type CallMediaStats = MediaStats<EndOf<MediaVoices>>;

/** The private addresses that are open, besides all public ones. */
export interface MediaAddresses {
  /** Of peers, for their media: `SIP_ALLOWED_ADDRESSES`. */
  peerAddresses: AllowedAddresses;
  /** Of agents: `OUTBOUND_ALLOWED_ADDRESSES`. */
  agentAddresses: AllowedAddresses;
}

/** What the threads are given. */
export interface MediaThreadData extends MediaAddresses {
  /** How long the second of agents' pings and silences is, in ms; 1000 without it. */
  agentBeatMs?: number | undefined;
}

export type MediaOptions = MediaThreadData &
  Pick<MediaPlaneOptions, 'workers' | 'host' | 'portMin' | 'portMax' | 'onThreadDied' | 'onClosed'>;

const worker = new URL(`./media-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/** The media of all calls of this process, and its pairs of RTP's ports: a workspace alone may take all, else its share. */
export function startMedia({ peerAddresses, agentAddresses, agentBeatMs, ...options }: MediaOptions): {
  media: Media;
  ports: Shares;
} {
  let ports = new Shares(0);
  const media: Media = new MediaPlane({
    ...options,
    worker,
    workerData: { peerAddresses, agentAddresses, agentBeatMs } satisfies MediaThreadData,
    portShares: (total) => {
      ports = new Shares(total, allWhileAlone);
      return ports;
    },
    isOpenAddress: createMediaAddressJudge(peerAddresses),
    onLate: noteLateSound,
  });
  return { media, ports };
}

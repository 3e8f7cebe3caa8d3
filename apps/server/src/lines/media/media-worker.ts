import { workerData } from 'node:worker_threads';
import { readUlawWav, type Speech, serveMedia, type Voice } from '@trunkline/media';
import { createAddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import { Heartbeat } from './agent-heartbeat.ts';
import { agentVoice } from './agent-voice.ts';
import { type AgentSpeech, type AnsweredAsk, AnsweredVoice, type TellableVoice } from './answered/answered-voice.ts';
import type { MediaThreadData, MediaVoices } from './media.ts';
import { createMediaAddressJudge } from './media-address.ts';
import { RealtimeVoice } from './realtime/realtime-voice.ts';
import { Relay } from './relay.ts';
import { ScriptVoice } from './script/script-voice.ts';
import { TestSound } from './test-sound.ts';

/** A thread that holds the media of some calls, beside the process's own. */

const { peerAddresses, agentAddresses, agentBeatMs } = workerData as MediaThreadData;
const agentGuard = createAddressGuard(agentAddresses);
const heartbeat = new Heartbeat(agentBeatMs);

/** An agent that has called somebody is told who answers. */
const heardBy = (
  answering: AnsweredAsk | undefined,
  speech: Speech,
  open: (own: AgentSpeech) => TellableVoice,
): Voice => (answering ? new AnsweredVoice(answering, speech, open) : open(speech));

serveMedia<MediaVoices>({
  isOpenAddress: createMediaAddressJudge(peerAddresses),
  voices: {
    agent: ({ answering, ...connection }, speech) =>
      heardBy(answering, speech, (own) => agentVoice(connection, agentGuard, heartbeat, own)),
    realtime: ({ answering, ...ask }, speech) =>
      heardBy(answering, speech, (own) => new RealtimeVoice(ask, agentGuard, heartbeat, own)),
    script: ({ answering, ...ask }, speech) => heardBy(answering, speech, (own) => new ScriptVoice(ask, own)),
    relay: (ask, speech) => new Relay(ask, speech),
    sound: async ({ path }, { playout }) => new TestSound(playout, await readUlawWav(path)),
  },
});

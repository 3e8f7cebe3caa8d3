import { workerData } from 'node:worker_threads';
import { readUlawWav, serveMedia } from '@trunkline/media';
import { createAddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import { Heartbeat } from './agent-heartbeat.ts';
import { agentVoice } from './agent-voice.ts';
import type { MediaThreadData, MediaVoices } from './media.ts';
import { createMediaAddressJudge } from './media-address.ts';
import { RealtimeVoice } from './realtime/realtime-voice.ts';
import { ScriptVoice } from './script/script-voice.ts';
import { TestSound } from './test-sound.ts';

/** A thread that holds the media of some calls, beside the process's own. */

const { peerAddresses, agentAddresses, agentBeatMs } = workerData as MediaThreadData;
const agentGuard = createAddressGuard(agentAddresses);
const heartbeat = new Heartbeat(agentBeatMs);

serveMedia<MediaVoices>({
  isOpenAddress: createMediaAddressJudge(peerAddresses),
  voices: {
    agent: (connection, speech) => agentVoice(connection, agentGuard, heartbeat, speech),
    realtime: (ask, speech) => new RealtimeVoice(ask, agentGuard, heartbeat, speech),
    script: (ask, speech) => new ScriptVoice(ask, speech),
    sound: async ({ path }, { playout }) => new TestSound(playout, await readUlawWav(path)),
  },
});

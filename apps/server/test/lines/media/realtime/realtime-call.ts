import type { MediaEvent } from '@trunkline/media';
import { expect } from 'vitest';
import type { Media } from '../../../../src/lines/media/media.ts';
import type { RealtimeAsk } from '../../../../src/lines/media/realtime/model-session.ts';
import type { ModelTool } from '../../../../src/lines/media/realtime/speech-model.ts';
import { startPeer } from '../peer.ts';
import type { ModelDouble } from './model-server.ts';

export const KEY = 'sk-a-key-of-our-own';
const tool = (name: string): ModelTool => ({ name, description: 'Does it.', parameters: { type: 'object' } });

/** What a call asks of the process. */
export interface Asked {
  type: string;
  name?: string;
  args?: string;
  result?: { transcript?: object[] };
  over?: { isAll: boolean; usage?: object };
}

type Named = Pick<RealtimeAsk, 'protocol' | 'model'> & Partial<RealtimeAsk>;

/** Opens calls whose voice is a double that each of them starts. @param named the model, as the double is asked for it */
export const realtimeCalls =
  <Behaviour, Session>(
    plane: Media,
    start: (behaviour: Behaviour | undefined) => Promise<ModelDouble<Session>>,
    named: Named,
  ) =>
  async ({
    behaviour,
    ask,
    answer,
  }: {
    behaviour?: Behaviour;
    ask?: Partial<RealtimeAsk>;
    answer?: (what: Asked) => unknown;
  } = {}) =>
    openRealtimeCall(plane, await start(behaviour), { ask: { ...named, ...ask }, ...(answer && { answer }) });

/** A call whose voice is the double of a model, which ends with the call, and what it asks of the process. */
export async function openRealtimeCall<Model extends ModelDouble<unknown>>(
  plane: Media,
  model: Model,
  { ask, answer = () => ({ output: 'done', isDone: true }) }: { ask: Named; answer?: (what: Asked) => unknown },
) {
  const events: MediaEvent[] = [];
  const asked: Asked[] = [];
  const media = await plane.openCall({
    ...{ owner: 'ours', silenceMs: 60_000 },
    onEvent: (event) => events.push(event),
    onAsk: async (what) => {
      asked.push(what as Asked);
      return await answer(what as Asked);
    },
  });
  const peer = await startPeer(media.rtpPort);
  await media.setStream(peer.stream());
  const connected = await media.speak('realtime', {
    ...{ url: model.url, apiKey: KEY, instructions: 'Be brief.', speaksFirst: true },
    tools: [tool('end_call'), tool('note'), tool('record_result')],
    ...{ silenceMs: 30_000, accountSid: 'AC1' },
    ...ask,
  });
  let stats: Awaited<ReturnType<typeof media.close>> | undefined;
  const close = async () => {
    stats ??= await media.close();
    return stats;
  };
  return {
    ...{ model, events, asked, media, peer, connected, close },
    get session() {
      return model.sessions.at(-1)! as Model['sessions'][number];
    },
    transcript: () => asked.find(({ result }) => result?.transcript)?.result?.transcript,
    ended: () => events.flatMap((event) => (event.type === 'voice_ended' ? [event.end] : [])),
    [Symbol.asyncDispose]: async () => {
      await close().catch(() => {});
      peer.close();
      await model[Symbol.asyncDispose]();
      expect(model.faults).toEqual([]);
    },
  };
}

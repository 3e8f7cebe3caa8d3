import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { tone } from '../tone.ts';
import { type ModelDouble, type ServerBehaviour, startModelDouble, vendorTypes } from './model-server.ts';

const { toldFault, check } = vendorTypes('openai-live-events', 'Event');

/** An event of OpenAI's Live API. */
interface Event {
  type: string;
  [field: string]: unknown;
}

/** A session of the double: what it was told, and what it says. All of both is as the vendor's own types have it. */
export interface LiveSession {
  socket: WebSocket;
  request: IncomingMessage;
  told: Event[];
  of(type: string): Event[];
  /** What its tools came to. */
  outputs(): string[];
  /** What it has heard, as µ-law. */
  heard(): Buffer;
  say(type: string, fields: object): void;
  /** Speaks in real time, as the vendor does; ends with the sound, or once that is told by the signal. */
  speak(said: { hertz: number; ms: number; words?: string; until?: AbortSignal }): Promise<void>;
  /** The model that uses tools calls some, in one response. */
  work(tools: Record<string, object>): void;
  /** What the callee has said is known. */
  hears(words: string): void;
}

/** A double of OpenAI's Live API. */
export type LiveModel = ModelDouble<LiveSession>;

export interface LiveBehaviour extends ServerBehaviour {
  /** What a session is answered with, instead of being begun. */
  fault?: { code: string; type: string; message: string };
  /** It was told something that it is to say; it says a second of 700 Hz without this. */
  asked?: (session: LiveSession, words: string) => void;
  /** The model that uses tools is to go on. */
  worked?: (session: LiveSession) => void;
}

/** @param behaviour can be changed while it runs */
export const startLiveModel = (behaviour: LiveBehaviour = {}): Promise<LiveModel> =>
  startModelDouble<Event, LiveSession>({
    ...{ path: '/v1/live/sessions', behaviour, toldFault, open: openSession },
    take: (session, event) => {
      if (event.type === 'session.start' && behaviour.fault) session.say('error', { error: behaviour.fault });
      else if (event.type === 'session.start') session.say('session.started', { session: RESOURCE });
      if (event.type === 'session.commentary.append') {
        const asked = behaviour.asked ?? (() => void session.speak({ hertz: 700, ms: 1000 }));
        asked(session, String(event['content']));
      }
      if (event.type === 'response.create') behaviour.worked?.(session);
      if (event.type !== 'session.close') return;
      session.say('session.closed', { reason: 'close_requested', session: RESOURCE, usage: { seconds: 1 } });
    },
  });

const RESOURCE = { id: 'sess_1', expires_at: 1_800_000_000, model: 'gpt-live-1', status: 'active' };
const USAGE = {
  ...{ input_tokens: 100, output_tokens: 50, total_tokens: 150 },
  input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};
/** Bytes of 100 ms, which it sends at once. */
const PIECE = 800;

function openSession(socket: WebSocket, request: IncomingMessage): LiveSession {
  const told: Event[] = [];
  let last = 0;
  const next = (kind: string) => {
    last += 1;
    return `${kind}_${last}`;
  };
  const send = (event: object) => {
    check(event);
    socket.send(JSON.stringify(event));
  };
  const say: LiveSession['say'] = (type, fields) => send({ type, event_id: next('event'), ...fields });
  const of = (type: string) => told.filter((event) => event.type === type);
  const time = { start_ms: 0, end_ms: 0 };
  return {
    ...{ socket, request, told, of, say },
    outputs: () => of('response.item.create').flatMap(({ item }) => (item as { output?: string }).output ?? []),
    heard: () =>
      Buffer.concat(of('session.input_audio.append').map((event) => Buffer.from(String(event['audio']), 'base64'))),
    speak: async ({ hertz, ms, words, until }) => {
      if (words !== undefined) say('session.output_transcript.delta', { ...time, delta: words });
      const began = performance.now();
      for (let from = 0; from < ms * 8 && !until?.aborted && socket.readyState === socket.OPEN; from += PIECE) {
        const delta = tone(hertz, Math.min(PIECE, ms * 8 - from), from).toString('base64');
        send({ type: 'session.output_audio.delta', delta });
        await sleep(Math.max(0, began + (from + PIECE) / 8 - performance.now()));
      }
    },
    work: (tools) => {
      const response = { id: next('resp'), object: 'response', error: null };
      const delegation = { id: next('delegation'), target: 'responses', type: 'delegation', response_id: response.id };
      say('session.delegation.created', { delegation, offset_ms: 0 });
      let sequence = 0;
      const tell = (type: string, fields: object) => {
        say('response.event', { delegation_id: delegation.id, event: { type, sequence_number: sequence, ...fields } });
        sequence += 1;
      };
      tell('response.created', { response: { ...response, status: 'in_progress' } });
      for (const [name, given] of Object.entries(tools)) {
        const item = { type: 'function_call', call_id: next('call'), name, arguments: JSON.stringify(given) };
        tell('response.output_item.done', { output_index: 0, item });
      }
      tell('response.completed', { response: { ...response, status: 'completed', usage: USAGE } });
    },
    hears: (words) => {
      for (const delta of words.split(/(?= )/)) say('session.input_transcript.delta', { ...time, delta });
    },
  };
}

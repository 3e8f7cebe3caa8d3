import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { tone } from '../tone.ts';
import { type ModelDouble, type ServerBehaviour, startModelDouble, vendorTypes } from './model-server.ts';

const { toldFault, check } = vendorTypes('openai-events', 'Event');

/** An event of OpenAI's Realtime API. */
export interface Event {
  type: string;
  [field: string]: unknown;
}

/** A session of the double: what it was told, and what it says. All of both is as the vendor's own types have it. */
export interface ModelSession {
  socket: WebSocket;
  request: IncomingMessage;
  told: Event[];
  of(type: string): Event[];
  /** What it has heard, as µ-law. */
  heard(): Buffer;
  /** Tells what an item was. */
  retrieve(id: string): void;
  /** Says an event. */
  say(type: string, fields: object): void;
  /** One response: a tone with words, and calls of tools after it. @returns the ID of its item */
  respond(said: { hertz?: number; ms?: number; words?: string; tools?: Record<string, object> }): string;
  /** The callee has begun to speak, and what it said is known later. */
  hears(words: string): void;
}

/** A double of OpenAI's Realtime API. */
export type OpenaiModel = ModelDouble<ModelSession>;

export interface Behaviour extends ServerBehaviour {
  /** What a session is answered with, instead of being begun. */
  fault?: object;
  /** A response was asked for; it says a second of 700 Hz without it. */
  asked?: (session: ModelSession, event: Event) => void;
  /** Something else was told. */
  told?: (session: ModelSession, event: Event) => void;
}

/** @param behaviour can be changed while it runs */
export const startOpenaiModel = (behaviour: Behaviour = {}): Promise<OpenaiModel> =>
  startModelDouble<Event, ModelSession>({
    ...{ path: '/v1/realtime', behaviour, toldFault },
    open: (socket, request) => {
      const session = openSession(socket, request);
      session.say('session.created', { session: { type: 'realtime' } });
      return session;
    },
    take: (session, event) => {
      if (event.type === 'session.update' && behaviour.fault) session.say('error', { error: behaviour.fault });
      else if (event.type === 'session.update') session.say('session.updated', { session: { type: 'realtime' } });
      else if (event.type === 'response.create')
        (behaviour.asked ?? (() => session.respond({ hertz: 700, ms: 1000 })))(session, event);
      else if (event.type === 'conversation.item.retrieve') session.retrieve(String(event['item_id']));
      else behaviour.told?.(session, event);
    },
  });

function openSession(socket: WebSocket, request: IncomingMessage): ModelSession {
  const told: Event[] = [];
  let last = 0;
  const next = (kind: string) => {
    last += 1;
    return `${kind}_${last}`;
  };
  const say = (type: string, fields: object) => {
    const event = { type, event_id: next('event'), ...fields };
    check(event);
    socket.send(JSON.stringify(event));
  };
  const of = (type: string) => told.filter((event) => event.type === type);
  const items = new Map<string, object>();
  const respond: ModelSession['respond'] = ({ hertz, ms = 1000, words, tools = {} }) => {
    const response = { id: next('resp'), object: 'realtime.response' };
    const itemId = next('item');
    const part = { response_id: response.id, item_id: itemId, output_index: 0, content_index: 0 };
    say('response.created', { response: { ...response, status: 'in_progress', output: [] } });
    if (words !== undefined) say('response.output_audio_transcript.delta', { ...part, delta: words });
    for (let from = 0; hertz !== undefined && from < ms * 8; from += 1600)
      say('response.output_audio.delta', {
        ...part,
        delta: tone(hertz, Math.min(1600, ms * 8 - from), from).toString('base64'),
      });
    const done = (item: object, at: number) =>
      say('response.output_item.done', {
        response_id: response.id,
        output_index: at,
        item: { ...item, status: 'completed' },
      });
    if (words !== undefined) {
      say('response.output_audio_transcript.done', { ...part, transcript: words });
      const content = [{ type: 'output_audio', transcript: words }];
      items.set(itemId, { id: itemId, type: 'message', role: 'assistant', content });
      done(items.get(itemId)!, 0);
    }
    for (const [name, given] of Object.entries(tools)) {
      const call = { call_id: next('call'), name, arguments: JSON.stringify(given) };
      const id = next('item');
      say('response.function_call_arguments.done', { response_id: response.id, item_id: id, output_index: 1, ...call });
      done({ id, type: 'function_call', ...call }, 1);
    }
    const usage = {
      ...{ input_tokens: 100, output_tokens: 50, total_tokens: 150 },
      input_token_details: { audio_tokens: 60, text_tokens: 40, cached_tokens: 20 },
      output_token_details: { audio_tokens: 45, text_tokens: 5 },
    };
    say('response.done', { response: { ...response, status: 'completed', output: [], usage } });
    return itemId;
  };
  return {
    ...{ socket, request, told, of, say, respond },
    retrieve: (id) => {
      const item = items.get(id);
      if (item) say('conversation.item.retrieved', { item });
    },
    heard: () =>
      Buffer.concat(of('input_audio_buffer.append').map((event) => Buffer.from(String(event['audio']), 'base64'))),
    hears: (words) => {
      const item = { item_id: next('item') };
      const content = [{ type: 'input_audio', transcript: words }];
      items.set(item.item_id, { id: item.item_id, type: 'message', role: 'user', content });
      say('input_audio_buffer.speech_started', { ...item, audio_start_ms: 0 });
      const usage = { type: 'duration', seconds: 1 };
      say('conversation.item.input_audio_transcription.completed', {
        ...{ ...item, content_index: 0, transcript: words, usage },
      });
    },
  };
}

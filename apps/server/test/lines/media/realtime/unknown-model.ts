import { PcmToUlaw } from '@trunkline/media';
import type { WebSocket } from 'ws';
import type { ProtocolName } from '../../../../src/lines/media/realtime/protocols.ts';
import { pcmTone, tone } from '../tone.ts';
import { type ModelDouble, startModelServer } from './model-server.ts';

/** How a protocol says things. Nothing here is judged by the vendor's types: it is what they may come to. */
interface Dialect {
  ready: object;
  /** What nobody knows. */
  strange: object;
  words(text: string): object;
  /** 20 ms of a tone. @param at the frame */
  sound(hertz: number, at: number): object;
  heard(text: string): object;
  tool(id: string, name: string): object;
  /** A turn is over. */
  over: object | undefined;
  /** Whether it is asked to say something. */
  asks(message: Record<string, unknown>): boolean;
  /** Whether a tool was answered. */
  answers(message: Record<string, unknown>): boolean;
}

const later = { from_tomorrow: [{ a: null }], event_id: 7 };
const ulaw = (hertz: number, at: number) => tone(hertz, 160, at * 160).toString('base64');
const pcm = (hertz: number, at: number) => pcmTone(hertz, 20, at * 20).toString('base64');

export const dialects: Record<ProtocolName, Dialect> = {
  openai_realtime: {
    ready: { session: null, ...later, type: 'session.updated' },
    strange: { type: 'response.mood.changed', mood: {}, delta: 'x' },
    words: (text) => ({ delta: text, item_id: 'i', type: 'response.output_audio_transcript.delta', ...later }),
    sound: (hertz, at) => ({ delta: ulaw(hertz, at), item_id: 'i', type: 'response.output_audio.delta' }),
    heard: (text) => ({
      ...{ transcript: text, item_id: 'p', ...later },
      type: 'conversation.item.input_audio_transcription.completed',
    }),
    tool: (id, name) => ({
      arguments: '{}',
      call_id: id,
      name,
      ...later,
      type: 'response.function_call_arguments.done',
    }),
    over: { type: 'response.done', response: { status: 'of_tomorrow' } },
    asks: ({ type }) => type === 'response.create',
    answers: ({ type, item }) => type === 'conversation.item.create' && 'output' in (item as object),
  },
  openai_live: {
    ready: { ...later, type: 'session.started' },
    strange: { type: 'session.mood.changed', mood: {}, delta: 'x' },
    words: (text) => ({ delta: text, type: 'session.output_transcript.delta' }),
    sound: (hertz, at) => ({ delta: ulaw(hertz, at), ...later, type: 'session.output_audio.delta' }),
    heard: (text) => ({ ...later, delta: text, type: 'session.input_transcript.delta' }),
    tool: (id, name) => ({
      type: 'response.event',
      event: { item: { type: 'function_call', arguments: '{}', call_id: id, name }, type: 'response.output_item.done' },
    }),
    over: undefined,
    asks: ({ type }) => type === 'session.commentary.append',
    answers: ({ type }) => type === 'response.item.create',
  },
  gemini_live: {
    ready: { ...later, setupComplete: { ...later } },
    strange: { serverMood: {}, serverContent: { mood: 7 } },
    words: (text) => ({ serverContent: { outputTranscription: { text, ...later }, ...later } }),
    sound: (hertz, at) => ({
      serverContent: { modelTurn: { parts: [{ text: 'Hm.' }, { inlineData: { data: pcm(hertz, at) }, ...later }] } },
    }),
    heard: (text) => ({ serverContent: { inputTranscription: { text } } }),
    tool: (id, name) => ({ toolCall: { functionCalls: [{ name, id, ...later }] } }),
    over: { serverContent: { turnComplete: true, turnCompleteReason: 'OF_TOMORROW' } },
    asks: ({ realtimeInput }) => 'text' in ((realtimeInput ?? {}) as object),
    answers: ({ toolResponse }) => toolResponse !== undefined,
  },
};

/** What a session says of what it hears, as µ-law. */
export const heardBy = (protocol: ProtocolName, told: readonly Record<string, unknown>[]): Buffer => {
  const pieces = told.flatMap(({ audio, realtimeInput }) => {
    const data = protocol === 'gemini_live' ? (realtimeInput as { audio?: { data: string } })?.audio?.data : audio;
    return typeof data === 'string' ? [Buffer.from(data, 'base64')] : [];
  });
  const all = Buffer.concat(pieces);
  return protocol === 'gemini_live' ? new PcmToUlaw(16_000).push(all) : all;
};

/** A double whose events come in another order, at other times, with others between them, and without some. */
export interface UnknownModel extends ModelDouble<Record<string, unknown>[]> {
  /** It uses a tool, and then ends the call. */
  goOn(): void;
}

export async function startUnknownModel(protocol: ProtocolName): Promise<UnknownModel> {
  const sessions: UnknownModel['sessions'] = [];
  let goOn = () => {};
  const server = await startModelServer('/v2', {}, (socket) => {
    const told: Record<string, unknown>[] = [];
    sessions.push(told);
    goOn = converse(socket, dialects[protocol], told);
  });
  return { ...server, sessions, faults: [], goOn: () => goOn() };
}

/** @returns what has it go on */
function converse(socket: WebSocket, dialect: Dialect, told: Record<string, unknown>[]): () => void {
  const { ready, strange, words, sound, heard, tool, over, asks, answers } = dialect;
  const say = (...messages: (object | undefined)[]) => {
    for (const message of messages)
      if (message) for (const each of [strange, message]) socket.send(Buffer.from(JSON.stringify(each)));
  };
  const tones = (hertz: number, frames: number) => Array.from({ length: frames }, (_, at) => sound(hertz, at));
  let turns = 0;
  // Its turn is over before any of it was said, and the words come in the middle of the sound.
  const greet = () => say(words('Hello'), over, ...tones(700, 10), words(' there.'), ...tones(700, 15));
  const leave = () => {
    // It hangs up first, then says goodbye, and never that it is done.
    say(heard('Bye then.'), tool('second', 'end_call'));
    setTimeout(() => say(...tones(1000, 30), words(' Goodbye.')), 300);
  };
  say(strange);
  socket.once('message', () => setTimeout(() => say(strange, ready, ready), 100));
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    told.push(message);
    if (turns === 0 && asks(message)) {
      turns += 1;
      greet();
    } else if (turns === 1 && answers(message)) {
      turns += 1;
      leave();
    }
  });
  return () => say(tool('first', 'note'));
}

import type { IncomingMessage } from 'node:http';
import { PcmToUlaw } from '@trunkline/media';
import type { WebSocket } from 'ws';
import { pcmTone } from '../tone.ts';
import { type ModelDouble, type ServerBehaviour, startModelDouble, vendorTypes } from './model-server.ts';

const { toldFault, check } = vendorTypes('gemini-events', 'Message');

/** What a session was told. */
interface Told {
  setup?: { sessionResumption?: { handle?: string }; systemInstruction: { parts: { text: string }[] } };
  realtimeInput?: { audio?: { data: string; mimeType: string }; text?: string };
  toolResponse?: { functionResponses: { id: string; name: string; response: { output: string } }[] };
}

/** A session of the double: what it was told, and what it says. All of both is as the vendor's own types have it. */
export interface GeminiSession {
  socket: WebSocket;
  request: IncomingMessage;
  told: Told[];
  /** The words that it was told. */
  texts(): string[];
  /** What its tools came to, by their names. */
  outputs(): [name: string, output: string][];
  /** What it has heard, as µ-law. */
  heard(): Buffer;
  say(message: object): void;
  /** One turn: a tone with words, and calls of tools after it. @returns the IDs of those */
  respond(said: GeminiTurn): string[];
  /** The callee has interrupted it, and what was said is known later. */
  hears(words: string): void;
}

export interface GeminiTurn {
  hertz?: number;
  ms?: number;
  words?: string;
  tools?: Record<string, object>;
}

/** A double of Google's Gemini Live. */
export type GeminiModel = ModelDouble<GeminiSession>;

export interface GeminiBehaviour extends ServerBehaviour {
  /** What a session is closed with, instead of being begun. */
  close?: (session: GeminiSession) => { code: number; reason: string } | undefined;
  /** It was told words; it says a second of 700 Hz without this. */
  asked?: (session: GeminiSession, text: string) => void;
  /** Tools were answered. */
  answered?: (session: GeminiSession) => void;
}

/** @param behaviour can be changed while it runs */
export const startGeminiModel = (behaviour: GeminiBehaviour = {}): Promise<GeminiModel> =>
  startModelDouble<Told, GeminiSession>({
    path: '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    ...{ behaviour, toldFault, open: openSession },
    take: (session, message) => {
      if (message.setup) {
        const close = behaviour.close?.(session);
        if (close) session.socket.close(close.code, close.reason);
        else session.say({ setupComplete: {} });
      }
      const { text } = message.realtimeInput ?? {};
      if (text !== undefined) (behaviour.asked ?? (() => session.respond({ hertz: 700, ms: 1000 })))(session, text);
      if (message.toolResponse) behaviour.answered?.(session);
    },
  });

const MIME = 'audio/pcm;rate=24000';

function openSession(socket: WebSocket, request: IncomingMessage): GeminiSession {
  const told: Told[] = [];
  const ear = new PcmToUlaw(16_000);
  /** As µ-law, and of how many messages. */
  let [heard, heardOf] = [Buffer.alloc(0), 0];
  let calls = 0;
  const say = (message: object) => {
    check(message);
    // As the vendor does: text, in binary frames, on several lines.
    socket.send(Buffer.from(JSON.stringify(message, null, 2)));
  };
  const respond: GeminiSession['respond'] = ({ hertz, ms = 1000, words, tools = {} }) => {
    for (let from = 0; hertz !== undefined && from < ms; from += 200) {
      const inlineData = { mimeType: MIME, data: pcmTone(hertz, Math.min(200, ms - from), from).toString('base64') };
      say({ serverContent: { modelTurn: { role: 'model', parts: [{ inlineData }] } } });
      if (from === 0 && words !== undefined) say({ serverContent: { outputTranscription: { text: words } } });
    }
    const functionCalls = Object.entries(tools).map(([name, args]) => {
      calls += 1;
      return { id: `function-call-${calls}`, name, args };
    });
    if (functionCalls.length > 0) say({ toolCall: { functionCalls } });
    if (hertz !== undefined) say({ serverContent: { generationComplete: true } });
    say({
      ...{ serverContent: { turnComplete: true } },
      usageMetadata: { promptTokenCount: 100, responseTokenCount: 50, totalTokenCount: 150 },
    });
    return functionCalls.map(({ id }) => id);
  };
  return {
    ...{ socket, request, told, say, respond },
    texts: () => told.flatMap(({ realtimeInput }) => realtimeInput?.text ?? []),
    outputs: () =>
      told.flatMap(({ toolResponse }) =>
        (toolResponse?.functionResponses ?? []).map(({ name, response }): [string, string] => [name, response.output]),
      ),
    heard: () => {
      const more = told.slice(heardOf).flatMap(({ realtimeInput }) => realtimeInput?.audio ?? []);
      heardOf = told.length;
      const pcm = Buffer.concat(more.map(({ data }) => Buffer.from(data, 'base64')));
      heard = Buffer.concat([heard, ear.push(pcm)]);
      return heard;
    },
    hears: (words) => {
      say({ serverContent: { interrupted: true } });
      say({ serverContent: { turnComplete: true } });
      for (const text of words.split(/(?= )/)) say({ serverContent: { inputTranscription: { text } } });
    },
  };
}

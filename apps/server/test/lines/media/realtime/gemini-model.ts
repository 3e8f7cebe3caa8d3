import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PcmToUlaw } from '@trunkline/media';
import { Ajv, type ValidateFunction } from 'ajv';
import { type WebSocket, WebSocketServer } from 'ws';

const schemas = JSON.parse(readFileSync(new URL('./generated/gemini-events.schema.json', import.meta.url), 'utf8'));
const ajv = new Ajv({ strict: false });
ajv.addSchema(schemas, 'gemini');
const check = (name: string): ValidateFunction => ajv.getSchema(`gemini#/definitions/${name}`)!;
const [isClientMessage, isServerMessage] = [check('ClientMessage'), check('ServerMessage')];

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

/** A double of Google's Gemini Live on loopback. */
export interface GeminiModel extends AsyncDisposable {
  url: string;
  sessions: GeminiSession[];
  /** What it was told that the vendor doesn't know. */
  faults: string[];
}

export interface GeminiBehaviour {
  /** The status that the handshake is answered with, instead of a session. */
  refuse?: number;
  /** What a session is closed with, instead of being begun. */
  close?: (session: GeminiSession) => { code: number; reason: string } | undefined;
  /** It was told words; it says a second of 700 Hz without this. */
  asked?: (session: GeminiSession, text: string) => void;
  /** Tools were answered. */
  answered?: (session: GeminiSession) => void;
}

/** @param behaviour can be changed while it runs */
export async function startGeminiModel(behaviour: GeminiBehaviour = {}): Promise<GeminiModel> {
  const server = new WebSocketServer({
    ...{ port: 0, host: '127.0.0.1' },
    verifyClient: (_, done) => (behaviour.refuse ? done(false, behaviour.refuse) : done(true)),
  });
  await once(server, 'listening');
  const sessions: GeminiSession[] = [];
  const faults: string[] = [];
  server.on('connection', (socket, request) => {
    const session = openSession(socket, request);
    sessions.push(session);
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const message: Told = JSON.parse(String(data));
      if (!isClientMessage(message as unknown))
        faults.push(`${Object.keys(message)}: ${ajv.errorsText(isClientMessage.errors)}`);
      session.told.push(message);
      if (message.setup) {
        const close = behaviour.close?.(session);
        if (close) socket.close(close.code, close.reason);
        else session.say({ setupComplete: {} });
      }
      const { text } = message.realtimeInput ?? {};
      if (text !== undefined) (behaviour.asked ?? (() => session.respond({ hertz: 700, ms: 1000 })))(session, text);
      if (message.toolResponse) behaviour.answered?.(session);
    });
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent`,
    sessions,
    faults,
    [Symbol.asyncDispose]: async () => {
      for (const { socket } of sessions) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const MIME = 'audio/pcm;rate=24000';

/** A tone of 24 kHz, as PCM in base64. */
function pcmTone(hertz: number, ms: number, fromMs: number): string {
  const pcm = Buffer.alloc(48 * ms);
  for (let at = 0; at < 24 * ms; at += 1)
    pcm.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * hertz * (24 * fromMs + at)) / 24_000)), 2 * at);
  return pcm.toString('base64');
}

function openSession(socket: WebSocket, request: IncomingMessage): GeminiSession {
  const told: Told[] = [];
  const ear = new PcmToUlaw(16_000);
  /** As µ-law, and of how many messages. */
  let [heard, heardOf] = [Buffer.alloc(0), 0];
  let calls = 0;
  const say = (message: object) => {
    if (!isServerMessage(message)) throw new Error(`The double says ${ajv.errorsText(isServerMessage.errors)}`);
    // As the vendor does: text, in binary frames, on several lines.
    socket.send(Buffer.from(JSON.stringify(message, null, 2)));
  };
  const respond: GeminiSession['respond'] = ({ hertz, ms = 1000, words, tools = {} }) => {
    for (let from = 0; hertz !== undefined && from < ms; from += 200) {
      const inlineData = { mimeType: MIME, data: pcmTone(hertz, Math.min(200, ms - from), from) };
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

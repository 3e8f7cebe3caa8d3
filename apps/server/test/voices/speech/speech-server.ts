import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { toneFile } from '../sounds/wav-files.ts';

/** What is asked of a server of the common form, as far as the tests look at it. */
export interface Asked {
  model: string;
  voice: string;
  input: string;
  response_format: string;
  language: string;
  authorization: string | undefined;
}

/** A server of `POST /v1/audio/speech` that says each text as a tone. */
export interface SpeechDouble extends AsyncDisposable {
  url: string;
  asked: Asked[];
  /** The tone of a text, how long it is, how long it takes, and whether it is refused; 700 Hz of a second by default. */
  says(text: string, tone: { hertz?: number; seconds?: number; afterMs?: number; isRefused?: boolean }): void;
}

export async function startSpeechDouble(): Promise<SpeechDouble> {
  const asked: Asked[] = [];
  const tones = new Map<string, Parameters<SpeechDouble['says']>[1]>();
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Omit<Asked, 'authorization'>;
    asked.push({ ...body, authorization: request.headers.authorization });
    const { hertz = 700, seconds = 1, afterMs = 0, isRefused = false } = tones.get(body.input) ?? {};
    await sleep(afterMs);
    if (isRefused) return void response.writeHead(500).end();
    response.writeHead(200, { 'Content-Type': 'audio/wav' });
    response.end(toneFile({ rate: 24_000, kind: 'pcm16', seconds }, hertz));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/audio/speech`,
    asked,
    says: (text, tone) => void tones.set(text, tone),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A server of `POST /v1/audio/transcriptions` that always hears the same. */
export interface Scribe extends AsyncDisposable {
  url: string;
  words: string;
  isBroken: boolean;
  asked: { model: string; authorization: string | undefined; seconds: number }[];
}

export async function startScribe(): Promise<Scribe> {
  const server = createServer(async (request, response) => {
    const headers = { 'Content-Type': request.headers['content-type']! };
    const form = await new Response(new Uint8Array(await buffer(request)), { headers }).formData();
    const seconds = (form.get('file') as File).size / 16_000;
    scribe.asked.push({ model: String(form.get('model')), authorization: request.headers.authorization, seconds });
    response.writeHead(scribe.isBroken ? 500 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(scribe.isBroken ? { error: 'It is broken.' } : { text: scribe.words }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const scribe: Scribe = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/audio/transcriptions`,
    ...{ words: '', isBroken: false, asked: [] },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return scribe;
}

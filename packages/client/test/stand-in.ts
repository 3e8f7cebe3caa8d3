import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type ClientOptions, createClient } from '../src/index.ts';

export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Answer = (response: ServerResponse, request: Received) => void | Promise<void>;

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

/** Breaks the connection without an answer. */
export const hangUp: Answer = (response) => void response.destroy();

/** Sends the text as an event stream. `cut` breaks the connection after it. */
export const stream =
  (text: string, { cut = false } = {}): Answer =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(text, () => (cut ? response.destroy() : response.end()));
  };

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** A server that answers as told, one answer a request and the last one for all further ones. */
export async function standInServer(...answers: Answer[]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body: await bodyOf(request) };
    received.push(seen);
    await answers[Math.min(received.length, answers.length) - 1]!(response, seen);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

/** Such a server, and clients of it. */
export async function standIn(...answers: Answer[]) {
  const { url, received } = await standInServer(...answers);
  const clientOf = (options: Partial<ClientOptions> = {}) =>
    createClient({ baseUrl: url, apiKey: 'tl_test_key', ...options });
  return { url, received, client: clientOf(), clientOf };
}

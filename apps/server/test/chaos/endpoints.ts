import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromId } from '../../src/foundation/values/ids.ts';
import type { Asked, Delivered } from './history.ts';

/** How often a web server of ours fails. An event's second try is let through: its third comes minutes later. */
const FAILS = 0.08;

/** Whoever servers speak to over HTTP: a webhook's endpoint, and the web server that `http` nodes ask. */
export interface Endpoints {
  hookUrl: string;
  webUrl: string;
  delivered: Delivered[];
  asked: Asked[];
  stop(): Promise<void>;
}

/** Starts them. They fail now and then, and keep all that comes. */
export async function startEndpoints(chance: () => number): Promise<Endpoints> {
  const delivered: Delivered[] = [];
  const asked: Asked[] = [];
  const tried = new Set<string>();
  const takeEvent = (request: IncomingMessage, body: string, response: ServerResponse) => {
    const eventId = fromId(String(request.headers['webhook-id']));
    if (!tried.has(eventId) && chance() < FAILS) response.writeHead(500).end();
    else {
      delivered.push({ eventId, type: JSON.parse(body).type, body, at: Date.now() });
      response.writeHead(204).end();
    }
    tried.add(eventId);
  };
  const answerNode = (request: IncomingMessage, body: string, response: ServerResponse) => {
    asked.push({ key: String(request.headers['idempotency-key']), person: JSON.parse(body).person });
    response.writeHead(chance() < FAILS ? 503 : 200, { 'Content-Type': 'application/json' }).end('{"known":true}');
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const take = request.url === '/hook' ? takeEvent : answerNode;
    take(request, Buffer.concat(chunks).toString(), response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    hookUrl: `${url}/hook`,
    webUrl: `${url}/web`,
    delivered,
    asked,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

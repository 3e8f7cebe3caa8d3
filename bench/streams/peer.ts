// The peers of event streams: sessions of better-sse in one channel, or what Node's own server writes.
import { createServer, type ServerResponse } from 'node:http';
import { createChannel, createSession } from 'better-sse';
import { serve, settingsOf } from '../child.ts';

export type PeerKind = 'better-sse' | 'bare';

/** Takes a stream, and tells all of them of an event. */
interface Streams {
  open(response: ServerResponse): unknown;
  tell(event: string, data: object): void;
}

function bare(): Streams {
  const open = new Set<ServerResponse>();
  let id = 0;
  return {
    open: (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      open.add(response);
    },
    tell: (event, data) => {
      id += 1;
      const frame = `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
      for (const response of open) response.write(frame);
    },
  };
}

function betterSse(): Streams {
  const channel = createChannel();
  return {
    open: async (response) => channel.register(await createSession(response.req, response)),
    tell: (event, data) => channel.broadcast(data, event),
  };
}

const { kind } = settingsOf<{ kind: PeerKind }>();
const streams = kind === 'bare' ? bare() : betterSse();

await serve(
  createServer(async (request, response) => {
    if (request.method === 'GET') return void streams.open(response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    streams.tell('campaign.progress', JSON.parse(Buffer.concat(chunks).toString()) as object);
    response.writeHead(200, { 'Content-Length': '2' }).end('ok');
  }),
);

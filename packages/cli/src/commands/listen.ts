import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidRequestError, type WebhookEvent, webhooks } from '@trunkline/client';
import type { First } from '../client-types.ts';
import { connect, loginOf } from '../connect.ts';
import { Fault, Interrupted, usageFault } from '../faults.ts';
import type { Context } from '../group.ts';
import { readAll } from '../io.ts';
import { plain } from '../text.ts';

const LOCAL = '127.0.0.1';
/** The service waits 15 s for an answer. */
const FORWARD_MS = 14_000;
const LARGEST_EVENT = 4 * 1024 * 1024;
const ALL_EVENTS = 'call.*,campaign.*,batch.*,workflow_run.*,upload.*,knowledge_base.*,phone_number.*,trunk.*';

interface Forwarding {
  target: string | undefined;
  /** What the endpoint's requests are signed with. */
  secret: string;
  /** What those that are forwarded are signed with. */
  signWith: string | undefined;
  screen: Context['screen'];
}

/**
 * Makes an endpoint of the service that leads here, shows what comes, and sends it on. The service reaches a listener on
 * this machine only where its settings say so, or by a tunnel. The endpoint goes at the end, however it comes.
 */
export async function listen({ io, screen, options }: Context): Promise<void> {
  const { forwardTo: target, publicUrl, events = ALL_EVENTS } = options as Record<string, string | undefined>;
  if (target && !URL.canParse(target)) throw usageFault(`--forward-to takes a URL, not ${target}.`);
  const server = createServer();
  const port = await open(server, Number(options['port'] ?? 0));
  const url = publicUrl ?? `http://${LOCAL}:${port}/`;
  const description = 'trunkline webhooks listen';
  const eventTypes = events.split(',').map((each) => each.trim()) as First<'webhooks', 'create'>['eventTypes'];
  // Made and deleted by a client that Ctrl-C doesn't end: no endpoint is left behind.
  const steady = connect(await loginOf(io.env));
  try {
    const made = await steady.webhooks.create({ url, description, eventTypes }).catch((error) => {
      throw isAddressRefused(error, publicUrl) ? unreachable(port) : error;
    });
    try {
      const { secret } = made;
      const forwarding = { target, secret, signWith: io.env['TRUNKLINE_WEBHOOK_SECRET'], screen };
      server.on('request', (request, response) => {
        // A stranger who breaks off must not end the program, and with it leave the endpoint behind.
        receive(request, response, forwarding).catch(() => response.destroy());
      });
      greet(io.stderr, { url, ...forwarding });
      if (!io.signal.aborted) await once(io.signal, 'abort');
    } finally {
      await steady.webhooks.delete(made.id);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
  throw new Interrupted('Stopped. The endpoint is deleted.');
}

async function open(server: Server, port: number): Promise<number> {
  server.listen(port, LOCAL);
  await once(server, 'listening').catch((error: Error) => {
    throw usageFault(`Port ${port} can't be used: ${error.message}.`);
  });
  return (server.address() as AddressInfo).port;
}

const isAddressRefused = (error: unknown, publicUrl: string | undefined) =>
  !publicUrl && error instanceof InvalidRequestError && error.details.some(({ path }) => path.includes('url'));

const unreachable = (port: number) =>
  new Fault(`The server sends no webhooks to addresses of its own network, such as ${LOCAL}.`, {
    next: `On this machine: start it with OUTBOUND_ALLOWED_ADDRESSES=localhost,${LOCAL}. Elsewhere: lead a tunnel to a port here, and add --port ${port} --public-url https://….`,
  });

function greet(stderr: NodeJS.WritableStream, { url, target, secret, signWith }: Forwarding & { url: string }): void {
  const lines = [`Listening at ${url}${target ? `, forwarding to ${target}` : ''}. Ctrl-C ends it.`];
  if (target && signWith) lines.push('Signed with your TRUNKLINE_WEBHOOK_SECRET.');
  else if (target) lines.push('Signed with this secret, which ends with it:', `  ${secret}`);
  stderr.write(`${lines.join('\n')}\n`);
}

/** Takes one request of the service: only what it has signed is shown and sent on. It is told what the target says. */
async function receive(request: IncomingMessage, response: ServerResponse, forwarding: Forwarding): Promise<void> {
  const { target, secret, screen } = forwarding;
  const body = await readAll(request, LARGEST_EVENT);
  const event = await webhooks.unwrap(body, request.headers, secret).catch(() => undefined);
  if (!event) return void response.writeHead(400).end();
  const answer = target ? await forward(target, request, body, forwarding) : { status: 204, said: '' };
  response.writeHead(answer.status).end();
  const id = String(request.headers['webhook-id']);
  screen.event({ id, ...event, ...(target && { forwarded: answer.said }) }, lineOf(event, answer.said));
}

async function forward(target: string, { headers }: IncomingMessage, body: string, { signWith }: Forwarding) {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  const signature = signWith ? sign(signWith, `${id}.${timestamp}.${body}`) : String(headers['webhook-signature']);
  const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  try {
    const { status } = await fetch(target, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...signed },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_MS),
    });
    return { status, said: String(status) };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return { status: 502, said: cause?.code ?? message };
  }
}

/** As Standard Webhooks says. */
const sign = (secret: string, text: string) =>
  `v1,${createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(text)
    .digest('base64')}`;

/** The time, the type, what it is about, and what the target said. */
function lineOf({ type, timestamp, data }: WebhookEvent, said: string): string {
  const { roomId, batchId, id, webhookId } = data as Record<string, unknown>;
  return `${plain(timestamp)}  ${type}  ${plain(roomId ?? batchId ?? id ?? webhookId)}${said && `  → ${said}`}`;
}

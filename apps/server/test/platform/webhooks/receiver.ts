import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import type { Config } from '../../../src/config.ts';
import type { EventType } from '../../../src/platform/webhooks/webhook.ts';
import type { TestServer } from '../../server.ts';
import { until } from '../../until.ts';

/** An event as it arrived. */
export interface Received {
  id: string;
  type: string;
  data: Record<string, unknown>;
  timestamp: string;
  headers: Record<string, string>;
  body: string;
  path: string;
  at: number;
}

type Behaviour = (received: Received, request: IncomingMessage, response: ServerResponse) => unknown;

/** Lets a server send to this machine. */
export const sendsToLoopback: Partial<Config> = {
  outboundAllowedAddresses: { networks: [{ address: '127.0.0.1', prefix: 32 }], hosts: [] },
};

/** An endpoint that takes what comes, unless it is told otherwise. */
export async function startReceiver() {
  const received: Received[] = [];
  let behave: Behaviour = (_received, _request, response) => response.writeHead(204).end();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const { type, data, timestamp } = JSON.parse(body);
      const one = {
        id: headers['webhook-id']!,
        type,
        data,
        timestamp,
        headers,
        body,
        path: request.url!,
        at: Date.now(),
      };
      received.push(one);
      behave(one, request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    ofType: (type: string) => received.filter((each) => each.type === type),
    /** Answers with this status from now on. */
    answer: (status: number, headers: Record<string, string> = {}) => {
      behave = (_received, _request, response) => response.writeHead(status, headers).end();
    },
    behave: (behaviour: Behaviour) => {
      behave = behaviour;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** What the library of Standard Webhooks says of an event: its body, or that the signature is wrong. */
export const verify = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, headers);

/** Makes an endpoint, and answers its ID and secret. */
export async function createEndpoint(
  { client }: Pick<TestServer, 'client'>,
  url: string,
  eventTypes: EventType[],
): Promise<{ id: string; secret: string }> {
  const { data, error } = await client.POST('/v1/webhooks', { body: { url, eventTypes } });
  if (!data) throw new Error(JSON.stringify(error));
  return data.data;
}

/** The deliveries of an endpoint, newest first. */
export async function deliveriesOf({ client }: Pick<TestServer, 'client'>, webhookId: string, query: object = {}) {
  const params = { path: { webhookId }, query };
  return (await client.GET('/v1/webhooks/{webhookId}/deliveries', { params })).data!.data.items;
}

/** Waits for so many events, and answers them. */
export async function arrived(receiver: Receiver, count: number): Promise<Received[]> {
  await until(() => expect(receiver.received.length).toBeGreaterThanOrEqual(count));
  return receiver.received;
}

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBodyRoom } from '@trunkline/server/foundation/http/body-room';
import { errorAnswer } from '@trunkline/server/foundation/http/errors';
import { write } from '@trunkline/server/foundation/http/exchange';
import type { OperationId } from '@trunkline/server/foundation/http/handler';
import { checkNesting } from '@trunkline/server/foundation/http/nesting';
import { createBodyReader, textOf } from '@trunkline/server/foundation/http/request-body';
import { faultAt } from '@trunkline/server/foundation/http/request-fault';
import { ServiceError } from '@trunkline/server/foundation/values/service-error';
import { loadContract } from './contract.ts';
import { createMockEdge } from './create-mock-edge.ts';
import { whyNoAnswer } from './forced-answer.ts';
import type { ForcedAnswer, Mock, MockOptions, SeenRequest, WebhookMessage } from './mock.ts';
import { sampleEvents, sendWebhook } from './send-webhook.ts';
import { takeDown } from './take-down.ts';

const LARGEST_MESSAGE = 1024 * 1024;

/** Starts a mock on a port of its own. Throws if the port is taken. */
export async function startMock({ port = 0, host = '127.0.0.1', onRequest }: MockOptions = {}): Promise<Mock> {
  const contract = loadContract();
  const forced = new Map<OperationId, ForcedAnswer>();
  const draining = new AbortController();
  const edge = await createMockEdge(contract, forced, draining.signal);
  const samples = sampleEvents(contract);
  const requests: SeenRequest[] = [];

  const pass = (request: IncomingMessage, response: ServerResponse) => {
    const seen = takeDown(request, response);
    requests.push(seen);
    response.once('close', () => onRequest?.(seen));
    edge.handle(request, response, seen);
  };
  const server = createServer((request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    if (path === '/_mock/webhooks') void answerWith(response, () => sendAsAsked(samples, request));
    else if (path.startsWith('/objects/')) void answerWith(response, () => takeFile(path, request));
    else pass(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(taken ? new Error(`Port ${port} is in use. Name another one; 0 takes any free one.`) : error);
    });
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    requests,
    force(operationId, answer) {
      const operation = edge.operations.find(({ id }) => id === operationId);
      if (!operation) throw new TypeError(`The contract has no operation ${operationId}.`);
      const fault = whyNoAnswer(contract, operation, answer);
      if (fault) throw new TypeError(`${fault}.`);
      forced.set(operationId, answer);
    },
    reset() {
      forced.clear();
      requests.length = 0;
    },
    sendWebhook: (message) => sendWebhook(samples, message),
    async close() {
      draining.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Samples = ReturnType<typeof sampleEvents>;

async function answerWith(response: ServerResponse, answer: () => Promise<object>): Promise<void> {
  try {
    write(response, 200, {}, await answer());
  } catch (error) {
    const { status, headers, body } = errorAnswer(error, randomUUID().replaceAll('-', ''));
    write(response, status, headers, body);
  }
}

const readMessage = (request: IncomingMessage) =>
  createBodyReader(createBodyRoom()).read(
    request,
    LARGEST_MESSAGE,
    { keyId: '', workspaceId: '', room: 0 },
    (bytes): unknown => {
      const text = textOf(bytes);
      checkNesting(text);
      return JSON.parse(text);
    },
  );

async function sendAsAsked(samples: Samples, request: IncomingMessage): Promise<object> {
  if (request.method !== 'POST') throw new ServiceError('method_not_allowed', 'This path takes POST.');
  const message = (await readMessage(request)) as WebhookMessage;
  try {
    return await sendWebhook(samples, message ?? {});
  } catch (error) {
    // What fetch throws has a cause; what is wrong with the message has none.
    const { message: why, cause } = error as Error;
    if (error instanceof TypeError && cause === undefined) throw faultAt('/body', why);
    const { message: reason } = (cause ?? error) as Error;
    throw new ServiceError('provider_error', `${message.url} could not be reached: ${reason}`);
  }
}

/** A contact file is sent to the URL of its upload, as to the server. */
async function takeFile(path: string, request: IncomingMessage): Promise<object> {
  if (request.method !== 'PUT') throw new ServiceError('not_found', 'The mock takes files, and has none.');
  for await (const _ of request);
  return { key: path.slice('/objects/'.length) };
}

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { ServiceError } from '../values/service-error.ts';
import { errorAnswer } from './errors.ts';
import { Exchange, write } from './exchange.ts';
import { answerUnreadable } from './unreadable.ts';

/** Who takes requests for another protocol (RFC 9110, section 7.8), such as WebSockets. */
export interface UpgradeTaker {
  wants(request: IncomingMessage): boolean;
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
/** Whether this Node can tell the requests for another protocol that are wanted from those that are not. */
export const takesUpgrades = major > 24 || (major === 24 && minor >= 9) || (major === 22 && minor >= 21);

/** A listening port, whose requests go to what `serve` was given last. */
export interface Listening {
  port: number;
  serve(listener: RequestListener): void;
  /** Hands on the requests for another protocol that somebody wants; all others are served as if they asked for none. */
  upgrade(takers: readonly UpgradeTaker[]): void;
  /** Takes no new connection, and resolves when every request has its answer, or was cut off after `withinMs`. */
  close(withinMs: number): Promise<void>;
}

const IDLE_CHECK_MS = 50;
/** Files are sent to the server itself, over whatever line. JSON has less: see slow-bodies.ts. */
const LONGEST_REQUEST_MS = 3_600_000;
/** The line and the headers of a request, without its body. */
const LONGEST_HEADERS_MS = 30_000;
/** How often Node looks for requests that take longer. */
const LATE_CHECK_MS = 5_000;
/**
 * How long a connection without a request stays open. Longer than clients and load balancers keep theirs (60 s): one that
 * sends on a connection that is just being closed gets a reset, and can't know whether its request was carried out.
 */
export const KEEP_ALIVE_MS = 75_000;

/**
 * After so long a connection closes on which nothing has moved while a request was under way: its client does not read what
 * it was answered. No work of a request takes as long, and event streams send something every 15 s.
 */
const STILL_MS = 120_000;

const serverOptions = {
  requestTimeout: LONGEST_REQUEST_MS,
  headersTimeout: LONGEST_HEADERS_MS,
  connectionsCheckingInterval: LATE_CHECK_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  // Node's own refusal bears no ID.
  requireHostHeader: false,
};

/**
 * Listens. Until `serve` is called everything answers 503, but `/livez`, so that a long migration isn't taken for a
 * dead server. Throws where the port is taken, saying what to do.
 * @param stillMs after how long a connection closes whose client takes nothing of an answer
 */
export async function listen(port: number, host: string, stillMs = STILL_MS): Promise<Listening> {
  let listener: RequestListener = answerStarting;
  let takers: readonly UpgradeTaker[] = [];
  const takerOf = (request: IncomingMessage) => takers.find((each) => each.wants(request));
  const shouldUpgradeCallback = (request: IncomingMessage) => takerOf(request) !== undefined;
  const server = createServer({ ...serverOptions, shouldUpgradeCallback }, (request, response) => {
    if (request.headers.host === undefined && request.httpVersion === '1.1') answerWithoutHost(request, response);
    else listener(request, response);
  });
  server.setTimeout(stillMs);
  // Without the callback Node would hand on all of them, those of clients too that only offer HTTP/2.
  if (takesUpgrades) server.on('upgrade', (request, socket, head) => takerOf(request)?.take(request, socket, head));
  // What else is expected than to go on (RFC 9110, section 10.1.1) may be left unheeded; Node would refuse it, barely.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => listener(request, response));
  server.on('clientError', answerUnreadable);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(whyNot(error, port, host), { cause: error })),
    );
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    serve: (next) => {
      listener = next;
    },
    upgrade: (next) => {
      takers = next;
    },
    close: (withinMs) => close(server, withinMs),
  };
}

function whyNot(error: NodeJS.ErrnoException, port: number, host: string): string {
  if (error.code === 'EADDRINUSE')
    return `Port ${port} is in use. Stop what uses it, or set PORT to another (0 takes any free one).`;
  if (error.code === 'EACCES') return `This user may not listen on port ${port}. Set PORT to one above 1023.`;
  return `Can't listen on HOST ${host}, PORT ${port}: ${error.message}`;
}

const answerStarting: RequestListener = (request, response) => {
  if (request.url === '/livez') {
    response.writeHead(200, {
      ...new Exchange(request, response).headers,
      'Content-Type': 'text/plain; charset=utf-8',
    });
    response.end('ok\n');
    return;
  }
  refuse(request, response, new ServiceError('unavailable', 'The server is starting. Try again in a moment.'));
};

const answerWithoutHost: RequestListener = (request, response) =>
  refuse(request, response, new ServiceError('invalid_request', 'The request has no Host header.'));

function refuse(request: IncomingMessage, response: ServerResponse, error: ServiceError): void {
  const exchange = new Exchange(request, response);
  const { status, headers, body } = errorAnswer(error, exchange.requestId);
  write(response, status, { ...exchange.headers, ...headers }, body);
}

async function close(server: Server, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection is idle only once its answer has ended, and a client that keeps it would be waited for.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const late = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Database } from '../database/database.ts';
import { takeIdempotencyKey } from '../database/idempotency-keys.ts';
import type { Secrets } from '../database/secrets.ts';
import type { Clock } from '../values/clock.ts';
import { newUuid } from '../values/ids.ts';
import { Shares } from '../values/limiter.ts';
import { openTicket, type Ticket } from './ticket.ts';

/** What tickets are taken with, whatever they are for. */
export interface TicketDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  secrets: Secrets;
  /** Whether somebody may ask for another one now: a workspace, or the address of who has no ticket. */
  mayAsk: (who: string) => boolean;
  /** Where clients reach this server, and whose pages may open WebSockets beside its own. */
  publicUrl: string;
  corsOrigins: readonly string[];
}

/** The longest message: two seconds of sound. */
const MAX_MESSAGE = 64_000;
/** In which who is told that the server stops must have closed its side. */
const CLOSE_MS = 1000;

/** The WebSockets of a process that URLs of one kind open, each once. */
export class TicketedSockets<T extends Ticket> {
  readonly #deps: TicketDeps;
  readonly #kind: { name: string; begin: (ticket: T, socket: WebSocket) => Promise<void> };
  readonly #server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE });
  readonly #rooms: Shares;
  #isClosed = false;

  /**
   * @param kind its name, which is also that of its tickets and of its path (`/talk/…`); how many may be open at once, of which a
   * workspace alone has half; and what is done with one that is opened
   */
  constructor(
    deps: TicketDeps,
    { most, ...kind }: { name: string; most: number; begin: (ticket: T, socket: WebSocket) => Promise<void> },
  ) {
    this.#deps = deps;
    this.#kind = kind;
    this.#rooms = new Shares(most);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether a request asks for such a WebSocket. */
  readonly wants = ({ url, headers }: IncomingMessage): boolean =>
    url?.startsWith(`/${this.#kind.name}/`) === true && headers.upgrade?.toLowerCase() === 'websocket';

  /** Takes such a request, or refuses it with a status that says why. */
  readonly take = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const { secrets, mayAsk, clock, log } = this.#deps;
    const { name, begin } = this.#kind;
    socket.on('error', () => {});
    const ticket = openTicket<T>(secrets, name, request.url!.slice(name.length + 2));
    if (!mayAsk(ticket?.workspaceId ?? request.socket.remoteAddress ?? ''))
      return refuse(socket, '429 Too Many Requests', 'Such URLs are opened too often. Try again in a minute.');
    if (!this.#isOwnOrigin(request)) return refuse(socket, '403 Forbidden', 'Pages of other origins may not open it.');
    if (!ticket || ticket.expires <= clock.now().getTime())
      return refuse(socket, '404 Not Found', 'This URL is too old, or was never there: ask for another one.');
    if (this.#isClosed || !this.#rooms.take(ticket.workspaceId))
      return refuse(socket, '503 Service Unavailable', 'As many are open as there may be.');
    socket.once('close', () => this.#rooms.giveBack(ticket.workspaceId));
    const refused = await this.#refusal(ticket);
    if (refused) return refuse(socket, ...refused);
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      opened.on('error', () => {});
      begin(ticket, opened).catch((error) => {
        log.error({ err: error, kind: name }, 'what a URL opens could not begin');
        opened.close(1011, 'It could not begin.');
      });
    });
  };

  /** A page of another origin has no business here, even with the URL. Programs that are no browsers name none. */
  #isOwnOrigin({ headers }: IncomingMessage): boolean {
    const { origin, host } = headers;
    const { publicUrl, corsOrigins } = this.#deps;
    if (origin === undefined || corsOrigins.includes(origin)) return true;
    const page = hostOf(origin);
    return page !== undefined && [host, hostOf(publicUrl)].includes(page);
  }

  /** Whether it can't be had any more: it opens once. */
  async #refusal(ticket: T): Promise<[status: string, text: string] | undefined> {
    const { database, clock, log } = this.#deps;
    const own = newUuid();
    try {
      const taken = await database.inWorkspace(ticket.workspaceId, (tx) =>
        takeIdempotencyKey(tx, {
          ...{ operation: this.#kind.name, key: ticket.id, request: {}, resourceId: own },
          now: clock.now(),
        }),
      );
      return taken === own ? undefined : ['410 Gone', 'This URL was opened before: ask for another one.'];
    } catch (error) {
      log.warn({ err: error, kind: this.#kind.name }, 'a URL could not be opened');
      return ['503 Service Unavailable', 'It can not be opened now.'];
    }
  }

  /** Ends all, and takes no more. Who does not answer the close is let go of: the server could not stop else. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#server.clients) socket.close(1001, 'The server stops.');
    setTimeout(() => {
      for (const socket of this.#server.clients) socket.terminate();
    }, CLOSE_MS).unref();
  }
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}

function refuse(socket: Duplex, status: string, text: string): void {
  const body = `${text}\n`;
  const headers = ['Connection: close', 'Content-Type: text/plain; charset=utf-8'];
  // Who keeps its side of the connection would keep this one, too: no time limit of requests ends it.
  socket.end(
    `HTTP/1.1 ${status}\r\n${headers.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

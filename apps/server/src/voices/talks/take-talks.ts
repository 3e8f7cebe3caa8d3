import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Database } from '../../foundation/database/database.ts';
import { takeIdempotencyKey } from '../../foundation/database/idempotency-keys.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { Shares } from '../../foundation/values/limiter.ts';
import type { ServeAgents } from '../../lines/conversation/agent-desk.ts';
import { type AgentRequest, NOBODY_RUNG, type ServedCall } from '../../lines/conversation/agent-request.ts';
import type { AgentWords } from '../../lines/conversation/briefing.ts';
import { Conversation } from '../../lines/conversation/conversation.ts';
import { systemTimers } from '../../lines/conversation/placement.ts';
import { voiceOf } from '../../lines/conversation/voice-of.ts';
import type { Media } from '../../lines/media/media.ts';
import type { Agent, AgentDirectory } from '../agents/directory.ts';
import { TalkLeg } from './talk-leg.ts';
import { openTalk, type Talk } from './talk-token.ts';

/** What talks are taken with. */
export interface TakingDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  secrets: Secrets;
  agents: AgentDirectory;
  words: AgentWords;
  /** Whether somebody may ask for another talk now: a workspace, or the address of who has no talk. */
  mayAsk: (who: string) => boolean;
  /** Does what agents ask for. */
  serve: ServeAgents;
  /** The media of this process, opened with the first talk if it has none. */
  media: () => Media;
  /** By which the media threads are reached from this machine. */
  mediaAddress: string;
  /** Where clients reach this server, and whose pages may talk beside its own. */
  publicUrl: string;
  corsOrigins: readonly string[];
}

/** Where talks are opened, behind it the token. */
export const TALK_PATH = '/talk/';
/** Of one process at once; a workspace alone has half of them. */
const MOST_TALKS = 40;
const LONGEST_SECONDS = 900;
/** What is asked for and shown to nobody. */
const unseen = new Set<AgentRequest['type']>(['speech', 'sound', 'over']);
/** For so long after its end it is told what was said, and a speech model asked for the result, in milliseconds. */
const openAfterEnd = { realtime: 12_000, script: 1000, stream: 0 };
/** The longest message: two seconds of sound. */
const MAX_MESSAGE = 64_000;
/** In which who is told that the server stops must have closed its side. */
const CLOSE_MS = 1000;

/** The talks that a process holds. */
export class Talks {
  readonly #deps: TakingDeps;
  readonly #server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE });
  readonly #rooms = new Shares(MOST_TALKS);
  readonly #held = new Set<Conversation>();
  #isClosed = false;

  constructor(deps: TakingDeps) {
    this.#deps = deps;
  }

  /** Whether a request asks for a WebSocket that opens a talk. */
  readonly wants = ({ url, headers }: IncomingMessage): boolean =>
    url?.startsWith(TALK_PATH) === true && headers.upgrade?.toLowerCase() === 'websocket';

  /** Takes such a request, or refuses it with a status that says why. */
  readonly take = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    socket.on('error', () => {});
    const talk = openTalk(this.#deps.secrets, request.url!.slice(TALK_PATH.length));
    if (!this.#deps.mayAsk(talk?.workspaceId ?? request.socket.remoteAddress ?? ''))
      return refuse(socket, '429 Too Many Requests', 'Talks are asked for too often. Try again in a minute.');
    if (!this.#isOwnOrigin(request)) return refuse(socket, '403 Forbidden', 'Pages of other origins may not talk.');
    if (!talk || talk.expires <= this.#deps.clock.now().getTime())
      return refuse(socket, '404 Not Found', 'This talk is over, or was never there: ask for another one.');
    if (this.#isClosed || !this.#rooms.take(talk.workspaceId))
      return refuse(socket, '503 Service Unavailable', 'As many talks are up as there may be.');
    socket.once('close', () => this.#rooms.giveBack(talk.workspaceId));
    const refused = await this.#refusal(talk);
    if (refused) return refuse(socket, ...refused);
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      this.#begin(talk, opened).catch((error) => {
        this.#deps.log.error({ err: error }, 'a talk could not begin');
        opened.close(1011, 'The talk could not begin.');
      });
    });
  };

  /** A page of another origin has no business here, even with the URL of a talk. Programs that are no browsers name none. */
  #isOwnOrigin({ headers }: IncomingMessage): boolean {
    const { origin, host } = headers;
    const { publicUrl, corsOrigins } = this.#deps;
    if (origin === undefined || corsOrigins.includes(origin)) return true;
    const page = hostOf(origin);
    return page !== undefined && [host, hostOf(publicUrl)].includes(page);
  }

  /** Whether it can't be had any more: it opens once. */
  async #refusal(talk: Talk): Promise<[status: string, text: string] | undefined> {
    const { database, clock } = this.#deps;
    const own = newUuid();
    try {
      const taken = await database.inWorkspace(talk.workspaceId, (tx) =>
        takeIdempotencyKey(tx, {
          ...{ operation: 'talk', key: talk.id, request: {}, resourceId: own },
          now: clock.now(),
        }),
      );
      return taken === own ? undefined : ['410 Gone', 'This talk was opened before: ask for another one.'];
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'a talk could not be opened');
      return ['503 Service Unavailable', 'The talk can not be opened now.'];
    }
  }

  async #begin(talk: Talk, socket: WebSocket): Promise<void> {
    const { agents, log } = this.#deps;
    socket.on('error', () => {});
    const agent = await agents.resolve(talk.agentId, talk.workspaceId).catch((error) => {
      log.warn({ err: error }, 'the agent of a talk could not be looked up');
      return undefined;
    });
    // It may have gone meanwhile, and would never be told to end.
    if (socket.readyState !== socket.OPEN) return;
    if (this.#isClosed || !agent?.connection) return socket.close(1011, 'The agent is not there.');
    const conversation = this.#converse(talk, agent, socket);
    this.#held.add(conversation);
    await conversation.begin();
  }

  #converse(talk: Talk, agent: Agent, socket: WebSocket): Conversation {
    const { clock, log, media, mediaAddress } = this.#deps;
    const { workspaceId, agentId, variables } = talk;
    const call = { workspaceId, roomId: talk.id };
    let leg!: TalkLeg;
    return new Conversation(
      {
        ...{ clock, log, media: media(), timers: systemTimers },
        recorder: { pathOf: () => '', finish: async () => {} },
        serve: (call, request) => this.#serve({ ...call, isTalk: true }, request, leg),
        emit: (event) => {
          if (event.type === 'ended') leg.over(event, openAfterEnd[agent.connection?.type ?? 'stream']);
        },
        onOver: (conversation) => this.#held.delete(conversation),
      },
      {
        ...call,
        voice: voiceOf(agent.connection, {
          ...{ ...call, agentId, variables, told: { agentId, talk: true }, far: 'caller' },
          isFollowed: true,
          numbers: { from: undefined, to: undefined },
          ...this.#deps.words,
        }),
        maxCallSeconds: Math.min(LONGEST_SECONDS, agent.maxCallSeconds ?? LONGEST_SECONDS),
        recording: false,
      },
      (tell) => {
        leg = new TalkLeg(socket, mediaAddress, tell);
        return leg;
      },
    );
  }

  /** Has done what an agent asks for, but what would be about a person, and tells the browser. */
  async #serve(call: ServedCall, request: AgentRequest, leg: TalkLeg): Promise<unknown> {
    if (request.type === 'turn') return leg.sayIfHeard({ event: 'turn', item: request.item, ...request.turn });
    const isPretended = request.type === 'record_result' || request.type === 'call_back';
    const answer = isPretended ? NOBODY_RUNG : await this.#deps.serve(call, request);
    if (!unseen.has(request.type)) leg.say({ event: 'request', request, answer });
    return answer;
  }

  /** Ends all, and takes no more. Who does not answer the close is let go of: the server could not stop else. */
  close(): void {
    this.#isClosed = true;
    for (const conversation of this.#held) conversation.end();
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

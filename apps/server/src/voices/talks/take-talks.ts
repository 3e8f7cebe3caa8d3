import type { WebSocket } from 'ws';
import { type TicketDeps, TicketedSockets } from '../../foundation/tickets/ticketed-sockets.ts';
import type { ServeAgents } from '../../lines/conversation/agent-desk.ts';
import { type AgentRequest, NOBODY_RUNG, type ServedCall } from '../../lines/conversation/agent-request.ts';
import type { AgentWords } from '../../lines/conversation/briefing.ts';
import { Conversation } from '../../lines/conversation/conversation.ts';
import { systemTimers } from '../../lines/conversation/placement.ts';
import { voiceOf } from '../../lines/conversation/voice-of.ts';
import type { Media } from '../../lines/media/media.ts';
import type { Agent, AgentDirectory } from '../agents/directory.ts';
import { TALK, type Talk } from './talk.ts';
import { TalkLeg } from './talk-leg.ts';

/** What talks are taken with. */
export interface TakingDeps extends TicketDeps {
  agents: AgentDirectory;
  words: AgentWords;
  /** Does what agents ask for. */
  serve: ServeAgents;
  /** The media of this process, opened with the first talk if it has none. */
  media: () => Media;
  /** By which the media threads are reached from this machine. */
  mediaAddress: string;
}

/** Of one process at once; a workspace alone has half of them. */
const MOST_TALKS = 40;
const LONGEST_SECONDS = 900;
/** What is asked for and shown to nobody. */
const unseen = new Set<AgentRequest['type']>(['speech', 'sound', 'over']);
/** For so long after its end it is told what was said, and a speech model asked for the result, in milliseconds. */
const openAfterEnd = { realtime: 12_000, script: 1000, stream: 0 };

/** The talks that a process holds. */
export class Talks {
  /** The WebSockets that they are opened by. */
  readonly sockets: TicketedSockets<Talk>;
  readonly #deps: TakingDeps;
  readonly #held = new Set<Conversation>();

  constructor(deps: TakingDeps) {
    this.#deps = deps;
    const begin = (talk: Talk, socket: WebSocket) => this.#begin(talk, socket);
    this.sockets = new TicketedSockets(deps, { name: TALK, most: MOST_TALKS, begin });
  }

  async #begin(talk: Talk, socket: WebSocket): Promise<void> {
    const { agents, log } = this.#deps;
    const agent = await agents.resolve(talk.agentId, talk.workspaceId).catch((error) => {
      log.warn({ err: error }, 'the agent of a talk could not be looked up');
      return undefined;
    });
    // It may have gone meanwhile, and would never be told to end.
    if (socket.readyState !== socket.OPEN) return;
    if (this.sockets.isClosed || !agent?.connection) return socket.close(1011, 'The agent is not there.');
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

  /** Ends all, and takes no more. */
  close(): void {
    for (const conversation of this.#held) conversation.end();
    this.sockets.close();
  }
}

import type { AgentRequest, ServedCall } from './agent-request.ts';

/** Does what agents ask for in their calls. @throws what the agent is told */
export type ServeAgents = (call: ServedCall, request: AgentRequest) => Promise<unknown>;

/** Where adapters, which are opened first, bring what agents ask for, to whoever does it. */
export class AgentDesk {
  #serve: ServeAgents | undefined;

  /** To be called once, before the first call. */
  open(serve: ServeAgents): void {
    this.#serve = serve;
  }

  readonly serve: ServeAgents = (call, request) => this.#serve!(call, request);
}

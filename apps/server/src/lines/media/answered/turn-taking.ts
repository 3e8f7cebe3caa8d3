import type { Heard } from '@trunkline/media';

/**
 * Whether the callee and the agent take turns: a new piece of the callee's speech begins after the agent was heard in its
 * pause, and has stopped. A machine's greeting goes on over whatever is said to it. Times are in ms since the answer.
 */
export class TurnTaking {
  #isSeen = false;
  /** The callee's last pause began then; nothing before its first. */
  #pausedAt: number | undefined;
  #agentUntil = 0;

  get isSeen(): boolean {
    return this.#isSeen;
  }

  /** @param until when what the agent says will have been played */
  agentSays(until: number): void {
    this.#agentUntil = Math.max(this.#agentUntil, until);
  }

  /** What the agent had still to say is left out. */
  agentStops(now: number): void {
    this.#agentUntil = Math.min(this.#agentUntil, now);
  }

  hear(heard: Heard): void {
    if (heard.type === 'pause') this.#pausedAt = heard.until;
    if (heard.type !== 'speech' || this.#pausedAt === undefined) return;
    this.#isSeen ||= this.#agentUntil > this.#pausedAt && this.#agentUntil <= heard.from;
  }
}

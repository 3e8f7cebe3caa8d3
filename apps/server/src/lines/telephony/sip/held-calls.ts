import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Conversation } from '../../conversation/conversation.ts';
import type { EndedCall } from '../../conversation/leg.ts';

const PAUSE_MS = 50;

/** The conversations that this process holds, and the ends that are being written. */
export class HeldCalls {
  readonly #held = new Map<string, Conversation>();
  readonly #ending = new Map<string, EndedCall>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(conversation: Conversation): void {
    this.#held.set(conversation.roomId, conversation);
  }

  get(roomId: string): Conversation | undefined {
    return this.#held.get(roomId);
  }

  /** How a call has just ended, until that is written. */
  justEnded(roomId: string): EndedCall | undefined {
    return this.#ending.get(roomId);
  }

  over(conversation: Conversation, ended: EndedCall | undefined): void {
    const { roomId, leg } = conversation;
    this.#held.delete(roomId);
    if (!ended) return;
    this.#ending.set(roomId, ended);
    void leg
      .keepEnd(ended)
      .catch((error) => this.#log.warn({ err: error, roomId }, 'the end of a call could not be kept'))
      .finally(() => this.#ending.delete(roomId));
  }

  endAll(): void {
    for (const conversation of this.#held.values()) conversation.end();
  }

  /** Waits until none is held, at most so long. */
  async allOver(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (this.#held.size > 0 && performance.now() < until) await sleep(PAUSE_MS);
  }
}

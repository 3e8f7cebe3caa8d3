import type { Timer, Timers } from './timers.ts';
import type { Flow, Target } from './transport.ts';

const PING = Buffer.from('\r\n\r\n');

/** Holds NATs open while calls or registrations need a way to their peer (RFC 5626 section 3.5.1), one ping for all of them. */
export class Keepalives {
  readonly #timers: Timers;
  readonly #everyMs: number;
  readonly #open: (target: Target) => Promise<Flow>;
  readonly #held = new Map<string, { holders: number; timer: Timer }>();

  /** @param everySeconds 0 sends none */
  constructor(timers: Timers, everySeconds: number, open: (target: Target) => Promise<Flow>) {
    this.#timers = timers;
    this.#everyMs = everySeconds * 1000;
    this.#open = open;
  }

  /** @returns how to let go */
  hold(flow: Flow): () => void {
    if (this.#everyMs === 0) return () => {};
    const { transport, address, port } = flow.target;
    const key = `${transport}|${address}|${port}`;
    const held = this.#held.get(key) ?? { holders: 0, timer: this.#pingLater(key, flow) };
    held.holders += 1;
    this.#held.set(key, held);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      held.holders -= 1;
      if (held.holders > 0) return;
      held.timer.clear();
      this.#held.delete(key);
    };
  }

  #pingLater(key: string, flow: Flow): Timer {
    return this.#timers.after(this.#everyMs, () => {
      const held = this.#held.get(key);
      if (!held) return;
      this.#ping(flow).catch(() => {});
      held.timer = this.#pingLater(key, flow);
    });
  }

  async #ping(flow: Flow): Promise<void> {
    const open = flow.isOpen ? flow : await this.#open(flow.target);
    await open.send(PING);
  }
}

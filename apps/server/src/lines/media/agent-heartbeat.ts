/** In a second; the agents of a thread are spread over them. */
const TURNS = 20;

/** Beats once a second for each agent of a thread: one timer for all, which rests while there is none. */
export class Heartbeat {
  #turns = Array.from({ length: TURNS }, () => new Set<() => void>());
  #size = 0;
  #at = 0;
  #timer: NodeJS.Timeout | undefined;
  #beatMs: number;

  /** @param beatMs how long a second is; tests have shorter ones */
  constructor(beatMs = 1000) {
    this.#beatMs = beatMs;
  }

  /** @returns ends it */
  add(beat: () => void): () => void {
    const turn = this.#turns.reduce((least, each) => (each.size < least.size ? each : least));
    turn.add(beat);
    this.#size += 1;
    this.#timer ??= setInterval(() => this.#turn(), this.#beatMs / TURNS).unref();
    return () => {
      if (!turn.delete(beat)) return;
      this.#size -= 1;
      if (this.#size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #turn(): void {
    this.#at = (this.#at + 1) % TURNS;
    for (const beat of this.#turns[this.#at]!) beat();
  }
}

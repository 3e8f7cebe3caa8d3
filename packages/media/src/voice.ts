import type { Playout } from './playout.ts';
import type { Turns } from './turns.ts';

/** Who speaks to the callee, such as an agent over its WebSocket, or a sound. It says things through the `Speech` that it was opened with. */
export interface Voice {
  /** The call is answered: what is heard from now on counts. */
  start(): void;
  /** 20 ms of what the callee says, µ-law. */
  hear(frame: Buffer): void;
  digit(digit: string): void;
  /** All that was said before this mark has been played, or cleared. */
  mark(name: string): void;
  /** Ends it. @returns how its part in the call ended, in words of its own: by itself before, or by this */
  close(): unknown;
  /** Asked once, when the voice has been taken: what it answers is the answer of `speak`. */
  opened?(): unknown;
  /** What it has counted, by names of its own. */
  counts?(): Record<string, number>;
}

/** How a voice speaks into its call, and says that it is done. */
export interface Speech {
  playout: Pick<Playout, 'push' | 'mark' | 'clear' | 'queued'>;
  /** Who was heard when. */
  turns: Pick<Turns, 'fellSilent'>;
  /**
   * Its part in the call is over, told as `voice_ended`.
   * @param end how, in words of its own; can be sent between threads
   * @param after `said`: what it had said is played first; `now`: that is left out
   */
  end(end: unknown, after: 'said' | 'now'): void;
  /**
   * Asks whoever has opened the call, until some seconds after its close (`ANSWERS_AFTER_MS`).
   * @param what can be sent between threads, as can the answer
   * @throws Error with the words of whoever refuses
   */
  ask(what: unknown): Promise<unknown>;
}

/**
 * The voices that calls can have, by their kinds: what each is opened with, what that answers, and how its part can end. All
 * of it is sent between threads.
 */
export type Voices = Record<string, { ask: unknown; answer: unknown; end?: unknown }>;

/** How the part of any of these voices can end. */
export type EndOf<V extends Voices> = V[keyof V] extends infer Kind
  ? Kind extends { end: infer End }
    ? End
    : never
  : never;

/** Makes the voices of each kind, on the thread that carries the call. */
export type OpenVoices<V extends Voices> = {
  [K in keyof V]: (ask: V[K]['ask'], speech: Speech) => Voice | Promise<Voice>;
};

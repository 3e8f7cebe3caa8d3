import type { Playout } from './playout.ts';

/** Who speaks to the callee, such as an agent over its WebSocket, or a sound. It says things through the `Speech` that it was opened with. */
export interface Voice {
  /** The call is answered: what is heard from now on counts. */
  start(): void;
  /** 20 ms of what the callee says, µ-law. */
  hear(frame: Buffer): void;
  digit(digit: string): void;
  /** All that was said before this mark has been played, or cleared. */
  mark(name: string): void;
  close(): void;
  /** Asked once, when the voice has been taken: what it answers is the answer of `speak`. */
  opened?(): unknown;
  /** What it has counted, by names of its own. */
  counts?(): Record<string, number>;
}

/** How a voice speaks into its call, and says that it is done. */
export interface Speech {
  playout: Pick<Playout, 'push' | 'mark' | 'clear'>;
  /** It hangs up: told as `voice_hung_up` once what it had said has been played. */
  hangUp(): void;
  /** It is lost: told as `voice_dropped`. */
  drop(text: string): void;
}

/** The voices that calls can have, by their kinds: what each is opened with, and what that answers. Both are sent between threads. */
export type Voices = Record<string, { ask: unknown; answer: unknown }>;

/** Makes the voices of each kind, on the thread that carries the call. */
export type OpenVoices<V extends Voices> = {
  [K in keyof V]: (ask: V[K]['ask'], speech: Speech) => Voice | Promise<Voice>;
};

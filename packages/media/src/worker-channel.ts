import type { AudioStream } from './audio-stream.ts';
import type { CallOptions, MediaEvent, MediaStats } from './media-events.ts';

/** The code of a thread that opens no call, since it is behind with those that it has. */
export const BEHIND = 'EBEHIND';

/** What a media thread is asked to do for a call, and what it answers. */
export interface Asks {
  open: { ask: CallOptions; answer: undefined };
  stream: {
    ask: { stream: AudioStream; trusted: readonly string[]; networks: readonly string[] };
    answer: undefined;
  };
  answer: { ask: { recordTo: string | undefined }; answer: undefined };
  /** A voice of a kind, and what it is opened with. */
  speak: { ask: { kind: string; ask: unknown }; answer: unknown };
  digit: { ask: { digit: string }; answer: undefined };
  sendDigits: { ask: { digits: string }; answer: undefined };
  listen: { ask: { isHeard: boolean }; answer: undefined };
  stats: { ask: undefined; answer: MediaStats };
  close: { ask: undefined; answer: MediaStats };
  /** Of the thread, whichever call is named: how late its latest turn was, in ms. */
  worstLate: { ask: undefined; answer: number };
}

export type Act = keyof Asks;

/** To the thread. */
export interface Asked<A extends Act = Act> {
  id: number;
  call: string;
  act: A;
  ask: Asks[A]['ask'];
}

/** To the thread: what came of something that a voice asked for. */
export type Answered = { answered: number; answer: unknown } | { answered: number; fault: string };

/** From the thread: an answer, a fault with its code, an event of a call, what a voice asks, or that a packet leaves late. */
export type Told =
  | { id: number; answer: unknown }
  | { id: number; fault: { message: string; code: string | undefined } }
  | { call: string; event: MediaEvent }
  | { call: string; asks: number; what: unknown }
  | { late: true };

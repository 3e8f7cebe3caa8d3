import { type ProbeReport, type Rejected, type Target, TransportError } from '@trunkline/sip';
import { isCapacity } from '../outcomes.ts';
import { answerOf } from './leg-end.ts';

/** A target that leaves an INVITE without any answer for so long is asked after the others. */
const DOUBTED_AFTER_MS = 500;
/** One that does for so long gets no other one: whom it is for may be reached, or never. */
const CLOSED_AFTER_MS = 2000;
/** Every INVITE is over by then (RFC 3261 section 17.1.1.2, timer B, and some more): what is still here keeps nothing closed. */
const FORGOTTEN_AFTER_MS = 40_000;
/** One that has never answered OPTIONS is tried again then; there may be a way to it again. */
const SILENT_MS = 600_000;
/** One that was not reached, or was busy without saying for how long, is asked after the others for so long. */
const AFTER_OTHERS_MS = 60_000;
/** The most that a busy one is asked after the others because its Retry-After says so. */
const LONGEST_BUSY_MS = 300_000;

/** Why a target gets no call that another one can get. */
export type TargetFault = TransportError | Rejected;

/** Whether a refusal tells of the target, and neither of the callee nor of the call (RFC 3263 section 4.3). */
export const isOutOfService = (rejected: Rejected): boolean =>
  rejected.status === 503 && isCapacity(answerOf(rejected));

/** How an address behind a trunk fares. */
export class TargetHealth {
  readonly target: Target;
  /** Since when it leaves all without an answer. */
  silentSince: number | undefined;
  readonly #now: () => number;
  readonly #tell: (silentFor: string | undefined) => void;
  /** When INVITEs without any answer left, in that order, by their room. */
  readonly #waiting = new Map<string, number>();
  #awayUntil = 0;
  #busyUntil = 0;
  #answersOptions = false;

  /** @param tell hears that it fell silent, and what it left without an answer, or that it speaks again */
  constructor(target: Target, now: () => number, tell: (silentFor: string | undefined) => void) {
    this.target = target;
    this.#now = now;
    this.#tell = tell;
  }

  /** Whether any INVITE has no answer. */
  get isWaitedFor(): boolean {
    this.#waitsMs();
    return this.#waiting.size > 0;
  }

  #waitsMs(): number {
    for (const [roomId, at] of this.#waiting) {
      if (this.#now() - at < FORGOTTEN_AFTER_MS) return this.#now() - at;
      this.#waiting.delete(roomId);
    }
    return 0;
  }

  /** Whether it gets no INVITE. */
  get isClosed(): boolean {
    const { silentSince } = this;
    const isSilent = silentSince !== undefined && (this.#answersOptions || this.#now() - silentSince < SILENT_MS);
    return isSilent || this.#waitsMs() >= CLOSED_AFTER_MS;
  }

  /** Whether another one that may get an INVITE gets it. */
  get comesAfter(): boolean {
    const now = this.#now();
    return this.#awayUntil > now || this.#busyUntil > now || this.#waitsMs() >= DOUBTED_AFTER_MS;
  }

  /** An INVITE leaves for it. */
  sent(roomId: string): void {
    this.#waiting.delete(roomId);
    this.#waiting.set(roomId, this.#now());
  }

  /** Nothing is waited for any more. @returns whether it was */
  over(roomId: string): boolean {
    return this.#waiting.delete(roomId);
  }

  fallSilent(what: string): void {
    if (this.silentSince === undefined) this.#tell(what);
    this.silentSince = this.#now();
  }

  speak(): void {
    if (this.silentSince !== undefined) this.#tell(undefined);
    this.silentSince = undefined;
    this.#awayUntil = 0;
  }

  /** Takes note of a call that it didn't take. */
  fail(why: TargetFault): void {
    if (why instanceof TransportError) {
      this.#awayUntil = this.#now() + AFTER_OTHERS_MS;
      return;
    }
    this.speak();
    if (!isOutOfService(why)) return;
    const { retryAfterSeconds } = why;
    const askedMs = retryAfterSeconds === undefined ? AFTER_OTHERS_MS : 1000 * retryAfterSeconds;
    this.#busyUntil = this.#now() + Math.min(LONGEST_BUSY_MS, askedMs);
  }

  /** Takes note of what it answered to OPTIONS; one that may not be asked any more has shown nothing. */
  learn(reachability: ProbeReport['reachability']): void {
    if (reachability === 'reachable') {
      this.#answersOptions = true;
      this.speak();
    } else if (reachability === 'timeout') {
      // Many take calls and never answer OPTIONS.
      if (this.#answersOptions) this.fallSilent('OPTIONS');
    } else if (reachability !== 'not_granted') this.#awayUntil = this.#now() + AFTER_OTHERS_MS;
  }
}

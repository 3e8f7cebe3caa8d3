import { Words } from './words.ts';

/** Words that are closer together, in ms, are one utterance. */
const PAUSE_MS = 2000;
/** One that lasts so long, in ms, is listened to; a shorter one may be a "hello?" to a voice that was never heard. */
const LISTEN_MS = 3000;

/**
 * Who of a call was heard when: the voice by its sound that was sent, the callee by its words and keys. It waits for a
 * voice that was never heard since the answer, whatever short words the callee says meanwhile; a greeting of a machine is
 * listened to, and so is everything else once the voice was heard. All times are in ms, by one clock.
 */
export class Turns {
  #words = new Words();
  #answeredAt: number | undefined;
  #firstSoundAt: number | undefined;
  /** The last of the voice's sound. */
  #saidAt = Number.NEGATIVE_INFINITY;
  #utterance = { from: Number.NEGATIVE_INFINITY, until: Number.NEGATIVE_INFINITY };
  /** The last of what the callee said that a voice may listen to. */
  #listenedAt = Number.NEGATIVE_INFINITY;
  #restedAt = Number.NEGATIVE_INFINITY;

  /** From the answer to the first of the voice's sound that was sent. */
  get firstSoundMs(): number | undefined {
    return this.#firstSoundAt === undefined ? undefined : Math.round(this.#firstSoundAt - this.#answeredAt!);
  }

  get calleeSpoke(): boolean {
    return this.#utterance.until > Number.NEGATIVE_INFINITY;
  }

  answer(now: number): void {
    this.#answeredAt = now;
  }

  /** Sound of the voice was sent: more than silence. */
  said(now: number): void {
    this.#firstSoundAt ??= now;
    this.#saidAt = now;
  }

  /** @param frame 20 ms of the callee */
  heard(frame: Uint8Array, now: number): void {
    if (!this.#words.hear(frame)) return;
    if (now - this.#utterance.until > PAUSE_MS) this.#utterance.from = now;
    this.#utterance.until = now;
    if (this.#firstSoundAt !== undefined || now - this.#utterance.from >= LISTEN_MS) this.#listenedAt = now;
  }

  /** The callee pressed a key. */
  pressed(now: number): void {
    this.#utterance.until = now;
    this.#listenedAt = now;
  }

  /** Nobody can be blamed for silence now: a hold, or sound that waits to be sent. */
  rest(now: number): void {
    this.#restedAt = now;
  }

  /**
   * Whether it was silent for so long: `voice` if the callee spoke last and waits, `both` if nobody has anything to say.
   * Nothing before the answer, or while one of them is heard.
   */
  fellSilent(now: number, forMs: number): 'voice' | 'both' | undefined {
    if (this.#answeredAt === undefined) return undefined;
    if (now - Math.max(this.#answeredAt, this.#saidAt, this.#listenedAt, this.#restedAt) < forMs) return undefined;
    return this.#utterance.until > this.#saidAt ? 'voice' : 'both';
  }
}

import { BYTES_PER_MS, ULAW_SILENCE } from './g711.ts';
import type { MediaEvent, MediaStats } from './media-events.ts';
import { Playout } from './playout.ts';
import { Turns } from './turns.ts';
import type { Speech, Voice } from './voice.ts';

/** What is kept for a voice that is still to come: five seconds. */
const MAX_UNHEARD = 250;
/** What a voice that has hung up had said before is played for this long at most. */
const FAREWELL_MS = 10_000;

/** The voice of a call: what it hears, what it says, and how its part ends. */
export class Speaking {
  readonly turns = new Turns();
  #emit: (event: MediaEvent) => void;
  #ask: Speech['ask'];
  /** Whether what it says is played at all. */
  #isPaced: () => boolean;
  #playout = new Playout((name) => this.#voice?.mark(name));
  #voice: Voice | undefined;
  /** What the callee has said and pressed since the answer, for a voice that is still to come. */
  #unheard: (Buffer | string)[] = [];
  #isAnswered = false;
  #isClosed = false;
  /** What a voice that has hung up is told of with, and when at the latest. */
  #farewell: { end: unknown; until: number } | undefined;
  /** Of what the voice said and nobody was sent. */
  #unheardMs = 0;

  constructor(process: { emit: (event: MediaEvent) => void; ask: Speech['ask'] }, isPaced: () => boolean) {
    this.#emit = process.emit;
    this.#ask = process.ask;
    this.#isPaced = isPaced;
  }

  /** The callee has answered: the voice hears and is heard from now on. */
  answer(now: number): void {
    this.#isAnswered = true;
    this.turns.answer(now);
    this.#voice?.start();
  }

  /** 20 ms of the callee, or a key that it pressed. */
  hear(heard: Buffer | string): void {
    if (typeof heard === 'string') this.turns.pressed(performance.now());
    else this.turns.heard(heard, performance.now());
    this.#give(heard);
  }

  #give(heard: Buffer | string): void {
    if (!this.#voice) {
      this.#unheard.push(heard);
      if (this.#unheard.length > MAX_UNHEARD) this.#unheard.shift();
    } else if (typeof heard === 'string') this.#voice.digit(heard);
    else this.#voice.hear(heard);
  }

  /** Takes a voice in place of the one before. @returns what it answers when it is `opened` */
  async take(open: (speech: Speech) => Voice | Promise<Voice>): Promise<unknown> {
    let voice: Voice | undefined;
    voice = await open({
      playout: this.#playout,
      turns: this.turns,
      ask: this.#ask,
      end: (end, after) => {
        // One that another has taken the place of has nothing to end any more.
        if (voice && this.#voice && voice !== this.#voice) return;
        this.#farewell = { end, until: after === 'said' ? performance.now() + FAREWELL_MS : 0 };
        if (after === 'now' || !this.#isPaced()) this.#sayFarewell(Number.POSITIVE_INFINITY);
      },
    });
    if (this.#isClosed) {
      voice.close();
      throw new Error('The call is closed.');
    }
    if (this.#voice) this.#letGo(this.#voice);
    this.#voice = voice;
    if (this.#isAnswered) voice.start();
    for (const heard of this.#unheard.splice(0)) this.#give(heard);
    return await voice.opened?.();
  }

  /** A voice that another takes the place of: neither its last words nor its end are waited for. */
  #letGo(before: Voice): void {
    before.close();
    this.#voice = undefined;
    this.#farewell = undefined;
    this.#playout.drop();
  }

  /** Writes the next of what is said into all of `ulaw`. @returns whether any of it is more than silence */
  next(ulaw: Buffer): boolean {
    if (this.#isAnswered) return this.#playout.next(ulaw);
    ulaw.fill(ULAW_SILENCE);
    return false;
  }

  /**
   * To be called after each turn.
   * @param isSent whether what `next` gave was sent; else nobody heard it
   * @param isOnHold nobody can be blamed for silence
   */
  said(ms: number, isSent: boolean, isOnHold: boolean, now: number): void {
    if (this.#playout.sounding && isSent) {
      const isFirst = this.turns.firstSoundMs === undefined;
      this.turns.said(now);
      if (isFirst) this.#emit({ type: 'voice_heard' });
    } else if (this.#playout.sounding) this.#unheardMs += ms;
    if (isOnHold || this.#playout.hasSound) this.turns.rest(now);
    this.#sayFarewell(now);
  }

  #sayFarewell(now: number): void {
    if (!this.#farewell) return;
    const { end, until } = this.#farewell;
    if (this.#playout.queued > 0 && this.#isAnswered && now < until) return;
    this.#farewell = undefined;
    this.#playout.drop();
    this.#emit({ type: 'voice_ended', end });
  }

  get stats(): Pick<MediaStats, 'firstSoundMs' | 'soundLeftOutMs' | 'calleeSpoke' | 'voice'> {
    return {
      firstSoundMs: this.turns.firstSoundMs,
      soundLeftOutMs: Math.round(this.#playout.leftOut / BYTES_PER_MS) + this.#unheardMs,
      calleeSpoke: this.turns.calleeSpoke,
      voice: this.#voice?.counts?.() ?? {},
    };
  }

  /** @returns how the part of the voice ended */
  close(): unknown {
    this.#isClosed = true;
    const end = this.#voice?.close();
    this.#playout.drop();
    return end;
  }
}

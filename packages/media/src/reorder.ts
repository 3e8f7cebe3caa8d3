import { ahead } from './rtp.ts';

/** Packets that are held while one before them is missing. */
const WINDOW = 3;
/** As far off as this, the sender has started anew. */
const NEW_START = 100;

/** Puts packets back in order. What comes in order passes at once; a gap holds a few packets, for a time. */
export class Reorder<T> {
  #next: number | undefined;
  #held = new Map<number, T>();
  #heldSince = 0;
  #deliver: (item: T) => void;
  #missing: (count: number) => void;

  /** @param missing told of packets that are given up, where they would have stood */
  constructor(deliver: (item: T) => void, missing: (count: number) => void) {
    this.#deliver = deliver;
    this.#missing = missing;
  }

  /** @param now in ms */
  push(sequence: number, item: T, now: number): void {
    const distance = this.#next === undefined ? 0 : ahead(sequence, this.#next);
    if (distance < 0 && distance > -NEW_START) return; // a duplicate, or too late
    if (this.#next === undefined || Math.abs(distance) >= NEW_START) this.restart(sequence);
    if (sequence !== this.#next) {
      if (this.#held.size === 0) this.#heldSince = now;
      this.#held.set(sequence, item);
      if (this.#held.size > WINDOW) this.#skip();
      return;
    }
    this.#advance(item);
    this.#drain();
  }

  /** Gives up what has been missing for too long. */
  giveUp(now: number, afterMs: number): void {
    if (this.#held.size > 0 && now - this.#heldSince > afterMs) this.#skip();
  }

  /** Delivers what is held, and takes what comes next as the first of a new row, or this number. */
  restart(sequence?: number): void {
    while (this.#held.size > 0) this.#skip();
    this.#next = sequence;
  }

  #skip(): void {
    let gap = 0;
    while (!this.#held.has((this.#next! + gap) & 0xffff)) gap += 1;
    this.#next = (this.#next! + gap) & 0xffff;
    this.#missing(gap);
    this.#drain();
  }

  #drain(): void {
    if (this.#held.size === 0) return;
    for (let item = this.#held.get(this.#next!); item !== undefined; item = this.#held.get(this.#next!)) {
      this.#held.delete(this.#next!);
      this.#advance(item);
    }
  }

  #advance(item: T): void {
    this.#next = (this.#next! + 1) & 0xffff;
    this.#deliver(item);
  }
}

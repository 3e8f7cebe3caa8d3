import { ahead } from './rtp.ts';

/** So many packets back one that is late is still taken: more than the 64 of RFC 3711 section 3.3.2. */
const WINDOW = 128;

/**
 * The index of a packet: how often its sequence number has rolled over, and that number. It is the nearest to the highest
 * that was heard (RFC 3711 section 3.3.1); below 0 if there can't be one.
 */
export const indexNear = (highest: number, sequence: number): number => highest + ahead(sequence, highest & 0xffff);

/** The packets that were taken, so that none is taken twice (RFC 3711 section 3.3.2). */
export class ReplayWindow {
  highest: number;
  /** The index that was taken last, at its place. */
  #taken = new Float64Array(WINDOW).fill(-1);

  /** @param first the index that is taken now */
  constructor(first: number) {
    this.highest = first;
    this.take(first);
  }

  /** Whether it may still be taken. */
  isFree(index: number): boolean {
    return index > this.highest - WINDOW && this.#taken[index % WINDOW] !== index;
  }

  take(index: number): void {
    this.#taken[index % WINDOW] = index;
    if (index > this.highest) this.highest = index;
  }
}

import { levelOf } from './level.ts';

/** What is quieter is no word (some 48 dB below full scale). */
const LEAST = 128;
/** A word is so much louder than the noise of its line. */
const ABOVE_NOISE = 3;
/** How fast the noise is followed, a frame: down in some 200 ms; up so slowly that speech, which has gaps, is no noise. */
const DOWN = 0.1;
const UP = 0.005;
/** Shorter ones are clicks. */
const LEAST_FRAMES = 3;

/** Tells the callee's words from the noise of its line, by their energy. A steady noise is no word after two seconds. */
export class Words {
  #noise = 0;
  #loudFrames = 0;

  /** @param frame 20 ms of µ-law @returns whether it is of a word */
  hear(frame: Uint8Array): boolean {
    const level = levelOf(frame);
    this.#noise += (level - this.#noise) * (level < this.#noise ? DOWN : UP);
    this.#loudFrames = level > Math.max(LEAST, ABOVE_NOISE * this.#noise) ? this.#loudFrames + 1 : 0;
    return this.#loudFrames >= LEAST_FRAMES;
  }
}

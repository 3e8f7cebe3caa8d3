import { FRAME, type Heard, SAMPLE_RATE, type Speech } from '@trunkline/media';

/** Of a greeting so much is written down, in frames of 20 ms: 15 seconds. */
const MOST_FRAMES = (15 * SAMPLE_RATE) / FRAME;
/** While somebody speaks it is asked for anew after so many frames, three seconds, and so often in all. */
const EVERY_FRAMES = (3 * SAMPLE_RATE) / FRAME;
const MOST_ASKED = 6;

/** Has the greeting of a callee written down, all of it so far each time: in its pauses, and while it goes on. */
export class GreetingTranscript {
  readonly #ask: Speech['ask'];
  readonly #written: (words: string) => void;
  #frames: Buffer[] = [];
  #hasSpoken = false;
  #isDue = false;
  #isAsking = false;
  #asked = 0;

  /** @param written is given all words so far */
  constructor(ask: Speech['ask'], written: (words: string) => void) {
    this.#ask = ask;
    this.#written = written;
  }

  /** @param frame 20 ms of the callee, and what was heard in it */
  hear(frame: Buffer, heard: readonly Heard[]): void {
    if (this.#frames.length >= MOST_FRAMES || this.#asked >= MOST_ASKED) return;
    this.#frames.push(Buffer.from(frame));
    this.#hasSpoken ||= heard.some(({ type }) => type === 'speech');
    const isTime = this.#hasSpoken && this.#frames.length % EVERY_FRAMES === 0;
    this.#isDue ||= isTime || heard.some(({ type }) => type === 'pause');
    if (this.#isDue && !this.#isAsking) void this.#transcribe();
  }

  async #transcribe(): Promise<void> {
    this.#isDue = false;
    this.#isAsking = true;
    this.#asked += 1;
    const words = await this.#ask({ type: 'transcribe', ulaw: Buffer.concat(this.#frames) }).catch(() => undefined);
    this.#isAsking = false;
    if (typeof words === 'string') this.#written(words);
  }
}

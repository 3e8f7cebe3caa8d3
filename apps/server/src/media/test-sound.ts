import { fileURLToPath } from 'node:url';
import type { Playout } from './playout.ts';
import type { Voice } from './voice.ts';

/** "This is Trunkline. After the tone, you will hear yourself." Spoken by espeak-ng. */
export const testCallWav = fileURLToPath(new URL('./test-call.wav', import.meta.url));

/** The voice of a test call: says one sentence, and then what it hears. */
export class TestSound implements Voice {
  #playout: Playout;
  #sentence: Buffer;
  #isEcho = false;

  /** @param sentence µ-law */
  constructor(playout: Playout, sentence: Buffer) {
    this.#playout = playout;
    this.#sentence = sentence;
  }

  start(): void {
    this.#playout.push(this.#sentence);
    this.#playout.mark('said');
  }

  hear(frame: Buffer): void {
    if (this.#isEcho) this.#playout.push(frame);
  }

  mark(): void {
    this.#isEcho = true;
  }

  digit(): void {}

  close(): void {}
}

import { fileURLToPath } from 'node:url';
import type { Speech, Voice } from '@trunkline/media';

/** The file of what a test call says: µ-law, 8 kHz. The build takes it along. */
export const testCallSound = fileURLToPath(new URL('test-call.wav', import.meta.url));

/** A voice without an agent: says one sentence, and then what it hears. */
export class TestSound implements Voice {
  #playout: Speech['playout'];
  #sentence: Buffer;
  #isEcho = false;

  /** @param sentence µ-law */
  constructor(playout: Speech['playout'], sentence: Buffer) {
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

  close(): undefined {}
}

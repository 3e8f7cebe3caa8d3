/// <reference lib="es2024.arraybuffer" />
import { FileFault } from '../file-fault.ts';

const FIRST_BYTES = 64 * 1024;
const FIRST_STRINGS = 4096;
const MOST_BYTES = 160 * 1024 * 1024;

/** The texts that a workbook's cells share, outside of the heap: a million of them take what their bytes take, and four each. */
export class SharedStrings {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #ends = new Uint32Array(FIRST_STRINGS);
  #count = 0;
  #used = 0;

  add(text: string): void {
    const most = this.#used + 3 * text.length;
    if (most > MOST_BYTES)
      throw new FileFault('file_too_large', 'The workbook has too much text. Split it, or save it as CSV.');
    if (most > this.#bytes.length) this.#growBytes(most);
    if (this.#count === this.#ends.length) this.#growEnds();
    this.#used += this.#bytes.write(text, this.#used);
    this.#ends[this.#count] = this.#used;
    this.#count += 1;
  }

  /** The text of a number; blank where there is none. */
  at(index: number): string {
    // Between two numbers there would be no ends, and all the memory that is not written yet would be its text.
    if (!(Number.isInteger(index) && index >= 0 && index < this.#count)) return '';
    return this.#bytes.toString('utf8', index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]);
  }

  #growBytes(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(least, Math.floor(this.#bytes.length * 1.5)));
    this.#bytes.copy(larger, 0, 0, this.#used);
    (this.#bytes.buffer as ArrayBuffer).transfer(0);
    this.#bytes = larger;
  }

  #growEnds(): void {
    const larger = new Uint32Array(this.#ends.length * 2);
    larger.set(this.#ends);
    this.#ends.buffer.transfer(0);
    this.#ends = larger;
  }
}

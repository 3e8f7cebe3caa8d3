/** Bytes of a stream, by as many as are asked for. No more of it is held than one chunk and what was asked for. */
export class ByteReader {
  #chunks: AsyncIterator<Uint8Array>;
  #held = Buffer.alloc(0);

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#chunks = content[Symbol.asyncIterator]();
  }

  /** @returns so many bytes; nothing if there are fewer */
  async take(count: number): Promise<Buffer | undefined> {
    while (this.#held.length < count) if (!(await this.#more())) return undefined;
    return this.#cut(count);
  }

  /** @returns at least `unit` bytes and at most `most`, in whole units; nothing if there is no whole one */
  async some(most: number, unit: number): Promise<Buffer | undefined> {
    while (this.#held.length < unit) if (!(await this.#more())) return undefined;
    const count = Math.min(this.#held.length, most);
    return this.#cut(count - (count % unit));
  }

  /** Passes over so many bytes. @returns false if there are fewer */
  async skip(count: number): Promise<boolean> {
    let left = count;
    while (left > this.#held.length) {
      left -= this.#held.length;
      this.#held = Buffer.alloc(0);
      if (!(await this.#more())) return false;
    }
    this.#cut(left);
    return true;
  }

  #cut(count: number): Buffer {
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    if (done) return false;
    this.#held = this.#held.length === 0 ? Buffer.from(value) : Buffer.concat([this.#held, value]);
    return true;
  }
}

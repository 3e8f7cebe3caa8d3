import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BYTES_PER_MS, SAMPLE_RATE, ulawPcm } from './g711.ts';

/** The sides of a recording, by their channel. */
export const CALLEE = 0;
export const AGENT = 1;
export type Side = typeof CALLEE | typeof AGENT;

const HEADER = 44;
const BYTES_PER_SAMPLE = 4;
/** What goes to the file at once: a second. */
const BLOCK = SAMPLE_RATE;
/** The sides may be this far apart: the callee's clock isn't ours. Then the callee's is set right. */
const MAX_APART = 200 * BYTES_PER_MS;
/** Blocks that wait for a slow disk; more, and the recording fails. */
const MAX_WAITING = 30;
/** What the disk may take for the rest at the end: nobody waits for it for ever. */
const CLOSE_MS = 5000;

/**
 * A recording as a WAV file of 16 bits, callee left, agent right. Whole seconds go to the file as they come, so that a
 * call of hours needs no more memory than a short one. What the disk refuses ends the recording, and nothing else.
 */
export class StereoWav {
  /** Why it has failed; the file is not whole then. */
  failure: Error | undefined;
  #at: [number, number] = [0, 0];
  /** The sample that `#block` begins with. */
  #base = 0;
  #block = new Int16Array(2 * BLOCK * 2);
  #waiting = 0;
  #file: Promise<FileHandle>;
  #tail: Promise<unknown>;

  /** @param path of a file that is made, or written anew */
  constructor(path: string) {
    this.#file = open(path, 'w', 0o600);
    this.#tail = this.#file.then((file) => file.write(wavHeader(0), 0, HEADER, 0)).catch((error) => this.#fail(error));
  }

  #fail(error: Error): void {
    this.failure ??= error;
  }

  /** Appends to a side. The agent's side is written at our beat, and is what the time of the recording is told by. */
  write(side: Side, ulaw: Uint8Array): void {
    if (this.failure) return;
    if (side === CALLEE) {
      const apart = this.#at[CALLEE] - this.#at[AGENT];
      if (apart > MAX_APART) return;
      if (apart < -MAX_APART) this.#at[CALLEE] = this.#at[AGENT];
    }
    for (let from = 0; from < ulaw.length; ) {
      const offset = this.#at[side] - this.#base;
      if (offset >= 2 * BLOCK) this.#flush();
      else {
        const count = Math.min(ulaw.length - from, 2 * BLOCK - offset);
        for (let at = 0; at < count; at += 1) this.#block[(offset + at) * 2 + side] = ulawPcm[ulaw[from + at]!]!;
        this.#at[side] += count;
        from += count;
      }
    }
    while (Math.max(...this.#at) - this.#base >= BLOCK + MAX_APART + SAMPLE_RATE / 2) this.#flush();
  }

  /** The first half of the block goes to the file, and the second becomes the first. */
  #flush(): void {
    const samples = this.#block.slice(0, BLOCK * 2);
    this.#block.copyWithin(0, BLOCK * 2);
    this.#block.fill(0, BLOCK * 2);
    this.#append(samples, BLOCK);
    this.#at[CALLEE] = Math.max(this.#at[CALLEE], this.#base);
    this.#at[AGENT] = Math.max(this.#at[AGENT], this.#base);
  }

  #append(samples: Int16Array, count: number): void {
    const position = HEADER + this.#base * BYTES_PER_SAMPLE;
    this.#base += count;
    if (this.#waiting >= MAX_WAITING) this.failure ??= new Error('The disk is too slow for the recording.');
    if (this.failure) return;
    this.#waiting += 1;
    this.#tail = this.#tail
      .then(async () => {
        const bytes = new Uint8Array(samples.buffer, 0, count * BYTES_PER_SAMPLE);
        if (!this.failure) await (await this.#file).write(bytes, 0, bytes.length, position);
      })
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /** Ends the file. @returns its length in samples; look at `failure` */
  async close(): Promise<number> {
    const total = Math.max(...this.#at);
    while (total - this.#base >= BLOCK) this.#flush();
    if (total > this.#base) this.#append(this.#block, total - this.#base);
    const inTime = await Promise.race([
      this.#tail.then(() => this.#finish(total)).then(() => true),
      sleep(CLOSE_MS, false, { ref: false }),
    ]);
    if (!inTime) this.#fail(new Error('The disk is too slow for the recording.'));
    return total;
  }

  async #finish(samples: number): Promise<void> {
    try {
      const file = await this.#file;
      await file.write(wavHeader(samples * BYTES_PER_SAMPLE), 0, HEADER, 0).finally(() => file.close());
    } catch (error) {
      this.#fail(error as Error);
    }
  }
}

function wavHeader(bytes: number): Buffer {
  const header = Buffer.alloc(HEADER);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(2, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return header;
}

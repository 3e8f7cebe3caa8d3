import { pcmToUlaw, SAMPLE_RATE, ulawPcm } from './g711.ts';
import { Resampler } from './resample.ts';

/** The µ-law code of each sample of 16 bits, from the lowest on. */
const ulawOf = Uint8Array.from({ length: 65_536 }, (_, at) => pcmToUlaw(at - 32_768));

/** Turns a telephone's µ-law into PCM of 16 bits, little-endian, of another rate. A stream may come in pieces of any length. */
export class UlawToPcm {
  readonly #resampler: Resampler;

  /** @param rate in Hz */
  constructor(rate: number) {
    this.#resampler = new Resampler(SAMPLE_RATE, rate);
  }

  push(ulaw: Uint8Array): Buffer {
    const heard = new Int16Array(ulaw.length);
    for (let at = 0; at < heard.length; at += 1) heard[at] = ulawPcm[ulaw[at]!]!;
    const samples = this.#resampler.push(heard);
    const pcm = new Int16Array(samples.length);
    for (let at = 0; at < pcm.length; at += 1) pcm[at] = clamped(samples[at]!);
    return Buffer.from(pcm.buffer);
  }
}

/** Turns PCM of 16 bits, little-endian, of some rate into a telephone's µ-law. Pieces have whole samples; half of one is left out. */
export class PcmToUlaw {
  readonly #resampler: Resampler;

  /** @param rate in Hz */
  constructor(rate: number) {
    this.#resampler = new Resampler(rate, SAMPLE_RATE);
  }

  push(pcm: Buffer): Buffer {
    const from = pcm.byteOffset;
    // Samples of an array begin at even places. All machines that this runs on are little-endian.
    const samples = new Int16Array(pcm.buffer.slice(from, from + pcm.length - (pcm.length % 2)));
    return toUlaw(this.#resampler.push(samples));
  }

  /** The stream is over. @returns what its last samples still come to */
  end(): Buffer {
    return toUlaw(this.#resampler.end());
  }
}

function toUlaw(samples: Float32Array): Buffer {
  const ulaw = Buffer.allocUnsafe(samples.length);
  for (let at = 0; at < samples.length; at += 1) ulaw[at] = ulawOf[clamped(samples[at]!) + 32_768]!;
  return ulaw;
}

const clamped = (sample: number) => Math.max(-32_768, Math.min(32_767, Math.round(sample)));

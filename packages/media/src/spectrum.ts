import { SAMPLE_RATE, ulawPcm } from './g711.ts';

/** 32 ms: tones that are 60 Hz apart are told apart. */
const SIZE = 256;
const HZ_PER_BIN = SAMPLE_RATE / SIZE;
/** What a tone spreads over to each side of its peak, in bins, by the window that is used. */
const SPREAD = 2;
/** What the sound of a telephone is looked at for, in Hz. */
const LOWEST = 100;
const HIGHEST = 3600;

/** The strongest tone of a piece of sound, and the strongest one beside it. Shares are of all its energy, from 0 to 1. */
export interface Tones {
  hz: number;
  share: number;
  secondHz: number;
  secondShare: number;
  /** How loud all of it is, in no unit. */
  loudness: number;
}

const hann = Float64Array.from({ length: SIZE }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / SIZE));
const cosines = Float64Array.from({ length: SIZE / 2 }, (_, at) => Math.cos((2 * Math.PI * at) / SIZE));
const sines = Float64Array.from({ length: SIZE / 2 }, (_, at) => -Math.sin((2 * Math.PI * at) / SIZE));
const BITS = Math.log2(SIZE);
const reversed = Uint8Array.from({ length: SIZE }, (_, at) => {
  let to = 0;
  for (let bit = 0; bit < BITS; bit += 1) if (at & (1 << bit)) to |= 1 << (BITS - 1 - bit);
  return to;
});
// One thread looks at one piece at a time.
const re = new Float64Array(SIZE);
const im = new Float64Array(SIZE);
const power = new Float64Array(SIZE / 2);

/** The last 32 ms of a sound, and what tones are in them. */
export class Spectrum {
  #samples = new Float64Array(SIZE);

  /** @param ulaw what comes next: less than 32 ms */
  add(ulaw: Uint8Array): void {
    this.#samples.copyWithin(0, ulaw.length);
    const from = SIZE - ulaw.length;
    for (let at = 0; at < ulaw.length; at += 1) this.#samples[from + at] = ulawPcm[ulaw[at]!]!;
  }

  tones(): Tones {
    transform(this.#samples);
    const [first, last] = [Math.round(LOWEST / HZ_PER_BIN), Math.round(HIGHEST / HZ_PER_BIN)];
    let all = 0;
    for (let bin = first; bin <= last; bin += 1) all += power[bin]!;
    if (all === 0) return { hz: 0, share: 0, secondHz: 0, secondShare: 0, loudness: 0 };
    const one = takePeak(first, last);
    const other = takePeak(first, last);
    return {
      ...{ hz: one.hz, share: one.energy / all, loudness: Math.sqrt(all) },
      ...{ secondHz: other.hz, secondShare: other.energy / all },
    };
  }
}

/** The strongest tone of `power`, which is taken out of it. */
function takePeak(first: number, last: number): { hz: number; energy: number } {
  let peak = first;
  for (let bin = first; bin <= last; bin += 1) if (power[bin]! > power[peak]!) peak = bin;
  let [energy, moment] = [0, 0];
  for (let bin = Math.max(first, peak - SPREAD); bin <= Math.min(last, peak + SPREAD); bin += 1) {
    energy += power[bin]!;
    moment += bin * power[bin]!;
    power[bin] = 0;
  }
  return { hz: energy === 0 ? 0 : (moment / energy) * HZ_PER_BIN, energy };
}

/** Cooley and Tukey's, by twos; `power` has what comes of it. */
function transform(samples: Float64Array): void {
  for (let at = 0; at < SIZE; at += 1) re[reversed[at]!] = samples[at]! * hann[at]!;
  im.fill(0);
  for (let half = 1; half < SIZE; half *= 2) {
    const stride = SIZE / (2 * half);
    for (let from = 0; from < SIZE; from += 2 * half)
      for (let at = 0; at < half; at += 1) {
        const a = from + at;
        const b = a + half;
        const cosine = cosines[at * stride]!;
        const sine = sines[at * stride]!;
        const real = re[b]! * cosine - im[b]! * sine;
        const imaginary = re[b]! * sine + im[b]! * cosine;
        re[b] = re[a]! - real;
        im[b] = im[a]! - imaginary;
        re[a]! += real;
        im[a]! += imaginary;
      }
  }
  for (let bin = 0; bin < SIZE / 2; bin += 1) power[bin] = re[bin]! ** 2 + im[bin]! ** 2;
}

import { pcmToUlaw, SAMPLE_RATE, ulawPcm } from './g711.ts';

/** Digits as tones in the sound itself (ITU-T Q.23): each is a low and a high frequency, in Hz. */
const LOW = [697, 770, 852, 941];
const HIGH = [1209, 1336, 1477, 1633];
const KEYS = ['123A', '456B', '789C', '*0#D'];
/** Of each of the two tones, some 8 dB below full scale: both together are not clipped. */
const AMPLITUDE = 12_000;

const frequenciesOf = new Map(
  KEYS.flatMap((keys, row) => [...keys].map((key, column) => [key, [LOW[row]!, HIGH[column]!]] as const)),
);

/**
 * Writes a piece of a digit's tone into all of `ulaw`.
 * @param from how many samples of the tone were before it
 */
export function writeTone(ulaw: Uint8Array, digit: string, from: number): void {
  const [low, high] = frequenciesOf.get(digit)!;
  const wave = (hertz: number, at: number) => Math.sin((2 * Math.PI * hertz * at) / SAMPLE_RATE);
  for (let at = 0; at < ulaw.length; at += 1)
    ulaw[at] = pcmToUlaw(Math.round(AMPLITUDE * (wave(low!, from + at) + wave(high!, from + at))));
}

/**
 * Samples of a block: 12.75 ms. Its bins are 78 Hz wide, which tells the tones from each other; and the shortest tone that
 * counts, of 40 ms (ITU-T Q.24), has two whole blocks in it wherever it begins.
 */
const BLOCK = 102;
/** A digit begins with two blocks of it, and ends with two without it, so that a gap in it makes no second one. */
const BLOCKS = 2;
/** A block whose mean square is below this (some 40 dB below full scale) isn't looked at. */
const QUIETEST = 90_000;
/** By how much the two tones may differ (Q.24): a line takes more of the high one. In power. */
const MOST_HIGH_BELOW = 10 ** 0.8;
const MOST_LOW_BELOW = 10 ** 0.4;
/** By how much each tone stands above the others of its group, in power. */
const ABOVE_OTHERS = 10 ** 0.6;
/** What part of all that is heard the two tones are, at least: a voice has more beside them. */
const PART_OF_ALL = 0.82;

/** Goertzel's coefficients: what a block holds of one frequency costs a multiplication a sample. */
const coefficients = [...LOW, ...HIGH].map((hertz) => 2 * Math.cos((2 * Math.PI * hertz) / SAMPLE_RATE));

/** Hears digits as tones in what a peer sends that has agreed on no other way. */
export class ToneReceiver {
  #samples = new Float64Array(BLOCK);
  #filled = 0;
  /** The digit that is told, and what the last blocks were. */
  #told: string | undefined;
  #last: string | undefined;
  #inRow = 0;

  /** @param ulaw sound, as it comes @returns the digits that begin in it */
  hear(ulaw: Uint8Array): string {
    let digits = '';
    for (const code of ulaw) {
      this.#samples[this.#filled] = ulawPcm[code]!;
      this.#filled += 1;
      if (this.#filled < BLOCK) continue;
      this.#filled = 0;
      digits += this.#take(digitOf(this.#samples)) ?? '';
    }
    return digits;
  }

  /** @returns the digit, if it begins with this block */
  #take(digit: string | undefined): string | undefined {
    this.#inRow = digit === this.#last ? this.#inRow + 1 : 1;
    this.#last = digit;
    if (this.#inRow < BLOCKS || digit === this.#told) return undefined;
    this.#told = digit;
    return digit;
  }
}

/** The digit whose two tones a block consists of. */
function digitOf(samples: Float64Array): string | undefined {
  let all = 0;
  for (const sample of samples) all += sample * sample;
  if (all < QUIETEST * BLOCK) return undefined;
  const powers = coefficients.map((coefficient) => powerOf(samples, coefficient));
  const low = strongest(powers.slice(0, LOW.length));
  const high = strongest(powers.slice(LOW.length));
  if (!low || !high) return undefined;
  if (high.power * MOST_HIGH_BELOW < low.power || low.power * MOST_LOW_BELOW < high.power) return undefined;
  // A tone alone has half a block's length of its energy as its power.
  if (low.power + high.power < PART_OF_ALL * all * (BLOCK / 2)) return undefined;
  return KEYS[low.at]![high.at];
}

function strongest(powers: number[]): { at: number; power: number } | undefined {
  const power = Math.max(...powers);
  const at = powers.indexOf(power);
  return powers.every((other, index) => index === at || other * ABOVE_OTHERS <= power) ? { at, power } : undefined;
}

function powerOf(samples: Float64Array, coefficient: number): number {
  let one = 0;
  let two = 0;
  for (const sample of samples) {
    const next = sample + coefficient * one - two;
    two = one;
    one = next;
  }
  return one * one + two * two - coefficient * one * two;
}

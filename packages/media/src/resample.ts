/** How far down what would fold back into the band is pressed, in dB, with what rounding needs above the 50 that are promised. */
const STOP_DB = 65;
/** Where the band ends that goes through whole, and where nothing more goes through: shares of the lower of the two rates. */
const PASS = 0.425;
const STOP = 0.5;

/** A low-pass in as many phases as there are places of an output sample between two input samples. */
interface Filter {
  phases: Float32Array[];
  /** Input samples that one output sample is made of. */
  taps: number;
  /** Input samples times `phases.length` from one output sample to the next. */
  step: number;
}

const filters = new Map<string, Filter>();

/**
 * Turns samples of one rate into samples of another, such as 8 to 16 kHz, 24 to 8 kHz, or 44.1 to 8 kHz: a polyphase
 * low-pass (Kaiser's window). What lies above half of the lower rate is 50 dB and more down, so that nothing of it is heard
 * as an alias; what lies below 0.425 of that rate (3.4 kHz of 8 kHz) goes through as it is. It keeps what it needs between
 * two pushes: a stream that is cut into frames of any length comes out as if it were whole, some milliseconds later.
 * Samples may be of any scale.
 */
export class Resampler {
  #filter: Filter | undefined;
  /** The input samples that the next output samples begin with. */
  #history: Float32Array;
  /** How far the next output sample lies behind the end of the history, in input samples times phases. */
  #ahead = 0;

  /** @param from,to in Hz, whole numbers; the filter of a pair is made once */
  constructor(from: number, to: number) {
    this.#filter = from === to ? undefined : filterOf(from, to);
    this.#history = new Float32Array(this.#filter ? this.#filter.taps - 1 : 0);
  }

  /** @returns the output samples that are complete with these; none of them is given twice */
  push(samples: ArrayLike<number>): Float32Array {
    if (!this.#filter) return Float32Array.from(samples);
    const { phases, taps, step } = this.#filter;
    const input = new Float32Array(taps - 1 + samples.length);
    input.set(this.#history);
    input.set(samples, taps - 1);
    const end = samples.length * phases.length;
    const output = new Float32Array(Math.max(0, Math.ceil((end - this.#ahead) / step)));
    let at = this.#ahead;
    for (let made = 0; made < output.length; made += 1) {
      const first = Math.floor(at / phases.length);
      output[made] = dot(phases[at % phases.length]!, input, first, taps);
      at += step;
    }
    this.#ahead = at - end;
    this.#history = input.slice(input.length - (taps - 1));
    return output;
  }

  /** The stream is over. @returns what its last samples still come to */
  end(): Float32Array {
    return this.push(new Float32Array(this.#filter ? Math.ceil(this.#filter.taps / 2) : 0));
  }
}

function dot(phase: Float32Array, input: Float32Array, first: number, taps: number): number {
  let sum = 0;
  for (let tap = 0; tap < taps; tap += 1) sum += phase[tap]! * input[first + tap]!;
  return sum;
}

function filterOf(from: number, to: number): Filter {
  const pair = `${from} ${to}`;
  const found = filters.get(pair) ?? makeFilter(from, to);
  filters.set(pair, found);
  return found;
}

function makeFilter(from: number, to: number): Filter {
  const common = greatestCommonDivisor(from, to);
  const count = to / common;
  const lower = Math.min(from, to);
  const width = ((STOP - PASS) * lower) / from;
  const taps = Math.ceil((STOP_DB - 7.95) / (14.36 * width)) + 1;
  const cut = (((STOP + PASS) / 2) * lower) / from;
  const beta = 0.1102 * (STOP_DB - 8.7);
  const half = taps / 2;
  const phases = Array.from({ length: count }, (_, phase) => {
    const weights = Float64Array.from({ length: taps }, (_, tap) => {
      const away = tap - half + 1 - phase / count;
      return Math.abs(away) >= half ? 0 : sinc(2 * cut * away) * bessel(beta * Math.sqrt(1 - (away / half) ** 2));
    });
    const sum = weights.reduce((all, weight) => all + weight, 0);
    return Float32Array.from(weights, (weight) => weight / sum);
  });
  return { phases, taps, step: from / common };
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** The modified Bessel function of order zero, by its series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

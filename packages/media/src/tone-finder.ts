import { BYTES_PER_MS, FRAME } from './g711.ts';
import { levelOf } from './level.ts';
import { Spectrum, type Tones } from './spectrum.ts';

const FRAME_MS = FRAME / BYTES_PER_MS;
/** What is quieter is no tone that is meant to be heard (some 46 dB below full scale). */
const LEAST = 160;
/** A tone has so much of all energy; two at once have it together, and each a part that can't be an overtone. */
const PURE = 0.85;
const PART = 0.12;
/** Beeps of machines, in Hz. */
const LOWEST = 290;
const HIGHEST = 2650;
/** Lower ones with an overtone may be of a voice. */
const LEAST_WITH_OVERTONE = 420;
const OFF_OVERTONE = 0.06;
/** Exchanges make pairs of tones below this, and keys above. */
const HIGHEST_PAIR = 700;
/** How far a steady tone strays, and how fast a rising one rises, in Hz a frame. */
const STRAYS = 30;
const RISES = 90;
/** How much louder the loudest frame of a steady tone is than its quietest: speech and plucked strings swell and fade. */
const SWELLS = 1.3;

/** A tone that lasted, or lasts still. Times are in ms of the sound. */
export interface Tone {
  from: number;
  until: number;
  /** At its end, if it rises. */
  hz: number;
  /** Two tones at once, such as a busy line's; `hz` is of the stronger one. */
  isPair: boolean;
  isRising: boolean;
  /** Whether it swells or fades, as speech and plucked strings do. */
  isUneven: boolean;
}

interface Held extends Tone {
  frames: number;
  /** Of the frame before: the last one of a tone is partly silence. */
  loudness: number;
  lowest: number;
  falls: boolean;
  quietest: number;
  loudest: number;
}

/** Finds tones in a sound: pure ones of 300 to 2,600 Hz, and pairs of them. */
export class ToneFinder {
  #spectrum = new Spectrum();
  #held: Held | undefined;
  /** Frames since the last one that was of the tone. */
  #missed = 0;

  /**
   * @param frame 20 ms
   * @param at when it begins
   * @returns the tone that sounds, with whether it goes on; one that is over is told once
   */
  hear(frame: Uint8Array, at: number): { tone: Tone; isOver: boolean } | undefined {
    this.#spectrum.add(frame);
    const tones = levelOf(frame) < LEAST ? undefined : this.#spectrum.tones();
    const kind = tones && kindOf(tones);
    if (!kind) return this.#miss();
    const held = this.#held;
    const { hz, isPair } = kind;
    if (held && goesOn(held, kind)) {
      this.#missed = 0;
      held.until = at + FRAME_MS;
      held.frames += 1;
      held.falls ||= hz < held.hz - STRAYS / 3;
      held.isRising = !held.falls && hz - held.lowest > 2 * STRAYS;
      held.hz = held.isRising ? hz : held.hz + (hz - held.hz) / held.frames;
      held.lowest = Math.min(held.lowest, hz);
      this.#weigh(held, tones.loudness);
      return { tone: held, isOver: false };
    }
    this.#held = {
      ...{ from: at, until: at + FRAME_MS, hz, isPair, isRising: false, frames: 1 },
      ...{ lowest: hz, falls: false, isUneven: false },
      ...{ loudness: tones.loudness, quietest: Number.POSITIVE_INFINITY, loudest: 0 },
    };
    this.#missed = 0;
    return held ? { tone: held, isOver: true } : undefined;
  }

  /** In its first frame and its last one it isn't whole. */
  #weigh(held: Held, loudness: number): void {
    if (held.frames > 2) {
      held.quietest = Math.min(held.quietest, held.loudness);
      held.loudest = Math.max(held.loudest, held.loudness);
      held.isUneven ||= held.loudest > held.quietest * SWELLS;
    }
    held.loudness = loudness;
  }

  #miss(): { tone: Tone; isOver: boolean } | undefined {
    const held = this.#held;
    if (!held) return undefined;
    this.#missed += 1;
    // One frame may be spoilt by a lost packet.
    if (this.#missed < 2) return { tone: held, isOver: false };
    this.#held = undefined;
    return { tone: held, isOver: true };
  }
}

/** What a piece of sound is: one tone, perhaps with an overtone, or two of those that exchanges make. */
function kindOf({ hz, share, secondHz, secondShare }: Tones): { hz: number; isPair: boolean } | undefined {
  if (hz >= LOWEST && hz <= HIGHEST && share >= PURE) return { hz, isPair: false };
  if (share + secondShare < PURE || secondShare < PART) return undefined;
  const [low, high] = [Math.min(hz, secondHz), Math.max(hz, secondHz)];
  const overtone = high / low;
  if (low >= LEAST_WITH_OVERTONE && Math.abs(overtone - Math.round(overtone)) < OFF_OVERTONE)
    return low <= HIGHEST ? { hz: low, isPair: false } : undefined;
  return low >= LOWEST && high <= HIGHEST_PAIR ? { hz, isPair: true } : undefined;
}

function goesOn(held: Held, { hz, isPair }: { hz: number; isPair: boolean }): boolean {
  if (held.isPair || isPair) return held.isPair === isPair;
  const strays = Math.abs(hz - held.hz);
  return strays <= STRAYS || (!held.falls && hz > held.hz && hz - held.hz <= RISES);
}

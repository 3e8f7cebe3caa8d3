import { BYTES_PER_MS, FRAME } from './g711.ts';
import { type Tone, ToneFinder } from './tone-finder.ts';
import { Words } from './words.ts';

/** What is heard of a callee beside what it says to the voice. Times are in ms of its sound since the answer. */
export type Heard =
  /** It speaks; told once it has spoken for a moment, and again when it has been silent for `PAUSE_MS`. */
  | { type: 'speech'; from: number }
  | { type: 'pause'; from: number; until: number }
  /** A beep as of a machine: told while it sounds, and with its end once that is over. */
  | { type: 'beep'; from: number; hz: number; until?: number }
  /** Tones of exchanges and of fax machines, once they are known. */
  | { type: Signal; from: number; until: number };

/**
 * - `sit`: the three rising tones before an announcement that a number can't be reached.
 * - `fax`: a fax machine calls (CNG) or answers (CED; ITU-T T.30).
 * - `ringback`, `busy`: an exchange says so in the sound itself.
 */
export type Signal = 'sit' | 'fax' | 'ringback' | 'busy';

const FRAME_MS = FRAME / BYTES_PER_MS;
/** What is shorter may be a noise. */
const SPEECH_MS = 200;
/** So much silence ends a piece of speech. */
export const PAUSE_MS = 500;
/** A tone that lasts so long may be a beep, and one that is steady for so long is one. */
const TONE_MS = 100;
const BEEP_MS = 160;
const LONGEST_BEEP_MS = 4000;
/** What is so close to a tone of the same pitch is a piece of it. */
const PIECE_GAP_MS = 60;
const SAME_HZ = 40;
/** Nobody's greeting is over so soon after the answer. */
const FIRST_MS = 1500;
/** Exchanges' own tones, in Hz: a beep there is known by its end alone, if it is shorter than theirs. */
const EXCHANGE = { lowest: 380, highest: 500, ms: 700 };
/** ITU-T E.180: the three tones of SIT, in Hz, each of some 330 ms. */
const SIT = [
  [890, 1010],
  [1330, 1470],
  [1720, 1840],
] as const;
const SIT_GAP_MS = 120;
/** ITU-T T.30: CED lasts for 2.6 s at least, CNG for 0.5 s every 3.5 s. */
const CED = { hz: 2100, off: 25, ms: 1200 };
const CNG = { hz: 1100, off: 40, fromMs: 400, untilMs: 640, everyMs: 3500, offMs: 500 };
/** Ringing sounds for 0.8 to 2.2 s (where twice, each for 0.4 s), with pauses of more than 1.5 s; a busy line as long as it is silent. */
const BUSY = { lowest: 380, highest: 640, times: 3, offMs: 100, leastMs: 150, mostMs: 800 };
const RING = { lowest: 380, highest: 520, leastMs: 800, mostMs: 2300 };

/** Listens to a callee: speech and pauses, beeps, and what exchanges and fax machines say in tones. It decides nothing. */
export class CalleeListener {
  #words = new Words();
  #finder = new ToneFinder();
  #now = 0;
  #speech: { from: number; until: number; isTold: boolean } | undefined;
  #spokeUntil: number | undefined;
  /** A beep that was told, and sounds. */
  #beep: Tone | undefined;
  /** Tones that are over, the latest last. */
  #past: Tone[] = [];

  /** How much was heard, in ms. */
  get now(): number {
    return this.#now;
  }

  /** When the callee was last heard to speak, in ms; nothing before its first word. */
  get spokeUntil(): number | undefined {
    return this.#spokeUntil;
  }

  /** @param frame 20 ms of µ-law */
  hear(frame: Uint8Array): Heard[] {
    const heard: Heard[] = [];
    const found = this.#finder.hear(frame, this.#now);
    const isTone = found !== undefined && !found.isOver && found.tone.until - found.tone.from >= TONE_MS;
    const isWord = this.#words.hear(frame) && !isTone;
    this.#now += FRAME_MS;
    if (found) heard.push(...(found.isOver ? this.#over(found.tone) : this.#lasts(found.tone)));
    heard.push(...this.#listen(isWord, isTone ? found.tone : undefined));
    return heard;
  }

  /** 20 ms that are not listened to: in them the callee may have spoken. */
  pass(): void {
    this.#now += FRAME_MS;
    this.#spokeUntil = this.#now;
    this.#speech = undefined;
  }

  #listen(isWord: boolean, tone: Tone | undefined): Heard[] {
    const speech = this.#speech;
    // What began a tone sounded like a word.
    if (speech && tone && speech.from >= tone.from - 3 * FRAME_MS && !speech.isTold) this.#speech = undefined;
    if (isWord) {
      this.#speech ??= { from: this.#now - 3 * FRAME_MS, until: this.#now, isTold: false };
      this.#speech.until = this.#now;
      if (this.#now - this.#speech.from < SPEECH_MS) return [];
      this.#spokeUntil = this.#now;
      if (this.#speech.isTold) return [];
      this.#speech.isTold = true;
      return [{ type: 'speech', from: this.#speech.from }];
    }
    if (!speech || this.#now - speech.until < PAUSE_MS) return [];
    this.#speech = undefined;
    return speech.isTold ? [{ type: 'pause', from: speech.from, until: speech.until }] : [];
  }

  #lasts(tone: Tone): Heard[] {
    const ms = tone.until - tone.from;
    if (isNear(tone.hz, CED) && ms >= CED.ms && ms < CED.ms + FRAME_MS && !tone.isPair)
      return [this.#signal('fax', tone)];
    if (this.#beep || !this.#mayBeBeep(tone) || isOfExchange(tone)) return [];
    this.#beep = tone;
    return [{ type: 'beep', from: tone.from, hz: Math.round(tone.hz) }];
  }

  /** What sounds before anybody has spoken is an exchange's, or a fax machine's. */
  #mayBeBeep({ from, until, hz, isPair, isUneven }: Tone, leastMs = BEEP_MS): boolean {
    const isAfterWords = this.#spokeUntil !== undefined && from >= FIRST_MS;
    // A piece of a longer one, such as of a line that rings, is none by itself.
    const isPiece = this.#past.some(
      (each) => each.from < from && from - each.until <= PIECE_GAP_MS && Math.abs(each.hz - hz) < SAME_HZ,
    );
    return isAfterWords && !isPiece && !isPair && !isUneven && until - from >= leastMs;
  }

  #over(tone: Tone): Heard[] {
    const ms = tone.until - tone.from;
    if (ms < TONE_MS) return [];
    const told = this.#beep !== undefined;
    this.#beep = undefined;
    this.#past = [...this.#past.slice(-5), { ...tone }];
    const signal = this.#signalOf(ms);
    const isBeep = this.#mayBeBeep(tone, TONE_MS) && !(isOfExchange(tone) && ms > EXCHANGE.ms) && ms <= LONGEST_BEEP_MS;
    const heard: Heard[] = [];
    // Whoever was told of its begin waits for its end, whatever it was.
    if (told || (isBeep && !signal))
      heard.push({ type: 'beep', from: tone.from, hz: Math.round(tone.hz), until: tone.until });
    return signal ? [...heard, signal] : heard;
  }

  #signalOf(ms: number): Heard | undefined {
    const past = this.#past;
    const tone = past.at(-1)!;
    const three = past.slice(-3);
    const isSit =
      three.length === 3 &&
      three.every(
        (each, at) => placeInSit(each) === at && (at === 0 || each.from - three[at - 1]!.until <= SIT_GAP_MS),
      );
    if (isSit) return this.#signal('sit', three[0]!);
    const before = past.at(-2);
    const isCng = (each: Tone) =>
      isNear(each.hz, CNG) && each.until - each.from >= CNG.fromMs && each.until - each.from <= CNG.untilMs;
    const isRhythm = before && Math.abs(tone.from - before.from - CNG.everyMs) <= CNG.offMs;
    if (isRhythm && isCng(tone) && isCng(before)) return this.#signal('fax', before);
    if (isBusy(past.slice(-BUSY.times))) return this.#signal('busy', past.at(-BUSY.times)!);
    const isRing = tone.hz >= RING.lowest && tone.hz <= RING.highest && ms >= RING.leastMs && ms <= RING.mostMs;
    return isRing ? this.#signal('ringback', tone) : undefined;
  }

  #signal(type: Signal, { from }: Tone): Heard {
    return { type, from, until: this.#now };
  }
}

const isOfExchange = ({ hz, isRising }: Tone): boolean =>
  !isRising && ((hz >= EXCHANGE.lowest && hz <= EXCHANGE.highest) || isNear(hz, CED));

const isNear = (hz: number, of: { hz: number; off: number }): boolean => Math.abs(hz - of.hz) <= of.off;

/** Which of the three tones it is; -1 if none. */
const placeInSit = ({ hz, from, until }: Tone): number =>
  until - from > 480 ? -1 : SIT.findIndex(([lowest, highest]) => hz >= lowest && hz <= highest);

/** Whether tones come as those of a busy line: equally long, and as long apart. */
function isBusy(tones: readonly Tone[]): boolean {
  if (tones.length < BUSY.times) return false;
  const [{ from, until }] = tones as [Tone, ...Tone[]];
  const ms = until - from;
  if (ms < BUSY.leastMs || ms > BUSY.mostMs) return false;
  return tones.every((tone, at) => {
    const isOne = tone.hz >= BUSY.lowest && tone.hz <= BUSY.highest;
    const isAsLong = Math.abs(tone.until - tone.from - ms) <= BUSY.offMs;
    const gap = at === 0 ? ms : tone.from - tones[at - 1]!.until;
    return isOne && isAsLong && Math.abs(gap - ms) <= BUSY.offMs;
  });
}

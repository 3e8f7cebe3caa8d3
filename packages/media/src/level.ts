import { FRAME, ulawPcm } from './g711.ts';

/** A mean magnitude below this (some 54 dB below full scale) can't be told from silence on a telephone. */
const AUDIBLE = 64;
/** Samples that are passed over; a tone would have to be of a third of the rate to hide between them. */
const STRIDE = 3;

const magnitudes = Uint16Array.from(ulawPcm, (pcm) => Math.abs(pcm));

/** The mean magnitude of a piece of µ-law, from 0 to 32,124, by every third sample. */
export function levelOf(ulaw: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < ulaw.length; at += STRIDE) sum += magnitudes[ulaw[at]!]!;
  return sum === 0 ? 0 : sum / Math.ceil(ulaw.length / STRIDE);
}

/** Whether a piece of µ-law is more than silence: speech is known by its first samples. */
export function isAudible(ulaw: Uint8Array, from = 0, until = ulaw.length): boolean {
  if (until <= from) return false;
  const least = AUDIBLE * Math.ceil((until - from) / STRIDE);
  let sum = 0;
  for (let at = from; at < until && sum < least; at += STRIDE) sum += magnitudes[ulaw[at]!]!;
  return sum >= least;
}

/** From where to where a piece of µ-law of any length is more than silence, in whole frames; nothing if nowhere. */
export function audiblePart(ulaw: Uint8Array): { from: number; until: number } | undefined {
  let from = 0;
  while (from < ulaw.length && !isAudible(ulaw, from, Math.min(from + FRAME, ulaw.length))) from += FRAME;
  if (from >= ulaw.length) return undefined;
  let until = ulaw.length;
  while (until > from + FRAME && !isAudible(ulaw, until - FRAME, until)) until -= FRAME;
  return { from, until };
}

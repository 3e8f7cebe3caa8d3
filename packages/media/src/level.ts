import { FRAME, ulawPcm } from './g711.ts';

/** A mean magnitude below this (some 54 dB below full scale) can't be told from silence on a telephone. */
const AUDIBLE = 64;
/** Samples that are passed over; a tone would have to be of a third of the rate to hide between them. */
const STRIDE = 3;

/** The mean magnitude of a piece of µ-law, from 0 to 32,124, by every third sample. */
export function levelOf(ulaw: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < ulaw.length; at += STRIDE) sum += Math.abs(ulawPcm[ulaw[at]!]!);
  return sum === 0 ? 0 : sum / Math.ceil(ulaw.length / STRIDE);
}

/** Whether a piece of µ-law is more than silence. */
export const isAudible = (ulaw: Uint8Array): boolean => levelOf(ulaw) >= AUDIBLE;

/** From where to where a piece of µ-law of any length is more than silence, in whole frames; nothing if nowhere. */
export function audiblePart(ulaw: Uint8Array): { from: number; until: number } | undefined {
  let from = 0;
  while (from < ulaw.length && !isAudible(ulaw.subarray(from, from + FRAME))) from += FRAME;
  if (from >= ulaw.length) return undefined;
  let until = ulaw.length;
  while (until > from + FRAME && !isAudible(ulaw.subarray(until - FRAME, until))) until -= FRAME;
  return { from, until };
}

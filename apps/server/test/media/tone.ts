import { pcmToUlaw, SAMPLE_RATE, ulawPcm } from '../../src/media/g711.ts';

/** A tone, as µ-law. @param from the sample that it goes on from, so that pieces fit together */
export const tone = (hertz: number, samples: number, from = 0): Buffer =>
  Buffer.from(
    Uint8Array.from({ length: samples }, (_, at) =>
      pcmToUlaw(Math.round(8000 * Math.sin((2 * Math.PI * hertz * (from + at)) / SAMPLE_RATE))),
    ),
  );

/** How much of the energy of a sound lies at a frequency, from 0 to 1 (Goertzel). */
export function shareOf(hertz: number, samples: ArrayLike<number>): number {
  const turn = 2 * Math.cos((2 * Math.PI * hertz) / SAMPLE_RATE);
  let [before, last, energy] = [0, 0, 0];
  for (let at = 0; at < samples.length; at += 1) {
    [before, last] = [last, samples[at]! + turn * last - before];
    energy += samples[at]! ** 2;
  }
  const power = last ** 2 + before ** 2 - turn * last * before;
  return energy === 0 ? 0 : (2 * power) / (energy * samples.length);
}

/** The share of a frequency in µ-law. */
export const shareInUlaw = (hertz: number, ulaw: Uint8Array): number =>
  shareOf(
    hertz,
    Array.from(ulaw, (code) => ulawPcm[code]!),
  );

/** A sound without the silence around it. */
export function trimmed(ulaw: Buffer): Buffer {
  const said = Array.from(ulaw, (code) => (code & 0x7f) < 0x70);
  return ulaw.subarray(said.indexOf(true), said.lastIndexOf(true) + 1);
}

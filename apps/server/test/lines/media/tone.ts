import { FRAME, pcmToUlaw, SAMPLE_RATE, ulawPcm } from '@trunkline/media';

/** A tone, as µ-law. @param from the sample that it goes on from, so that pieces fit together */
export const tone = (hertz: number, samples: number, from = 0): Buffer =>
  Buffer.from(
    Uint8Array.from({ length: samples }, (_, at) =>
      pcmToUlaw(Math.round(8000 * Math.sin((2 * Math.PI * hertz * (from + at)) / SAMPLE_RATE))),
    ),
  );

/** What sounds like a voice, as far as listeners care: overtones of a low tone, in syllables, as µ-law. */
export const voiceLike = (ms: number): Buffer =>
  Buffer.from(
    Uint8Array.from({ length: ms * 8 }, (_, at) => {
      const syllable = Math.abs(Math.sin((Math.PI * at) / 1600));
      const turn = (2 * Math.PI * (120 + 20 * Math.sin(at / 4000)) * at) / SAMPLE_RATE;
      return pcmToUlaw(
        Math.round(syllable * [1, 2, 3, 4, 5, 7, 9].reduce((sum, part) => sum + 900 * Math.sin(part * turn), 0)),
      );
    }),
  );

/** How much of the energy of a sound lies at a frequency, from 0 to 1 (Goertzel). */
function shareOf(hertz: number, samples: ArrayLike<number>): number {
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
const shareInUlaw = (hertz: number, ulaw: Uint8Array): number =>
  shareOf(
    hertz,
    Array.from(ulaw, (code) => ulawPcm[code]!),
  );

/**
 * For how many ms a tone is heard, in pieces of 20 ms: a machine that stalls may put silence between them, and the phase
 * of what follows is another one then.
 * @param hertz a multiple of 50
 */
export function msOf(hertz: number, ulaw: Buffer): number {
  let ms = 0;
  for (let at = 0; at + FRAME <= ulaw.length; at += FRAME)
    if (shareInUlaw(hertz, ulaw.subarray(at, at + FRAME)) > 0.9) ms += 20;
  return ms;
}

/** The same as PCM of 16 bits and 24 kHz, as some models speak. */
export function pcmTone(hertz: number, ms: number, fromMs = 0): Buffer {
  const pcm = Buffer.alloc(48 * ms);
  for (let at = 0; at < 24 * ms; at += 1)
    pcm.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * hertz * (24 * fromMs + at)) / 24_000)), 2 * at);
  return pcm;
}

import { expect, test } from 'vitest';
import { ulawPcm } from './g711.ts';
import { PcmToUlaw, UlawToPcm } from './pcm.ts';

/** A tone of 16 bits at half of full scale. */
const tone = (hz: number, rate: number, seconds = 1) => {
  const pcm = Buffer.alloc(2 * rate * seconds);
  for (let at = 0; at < rate * seconds; at += 1)
    pcm.writeInt16LE(Math.round(16_384 * Math.sin((2 * Math.PI * hz * at) / rate)), 2 * at);
  return pcm;
};

/** How loud a frequency is in samples, in dB below the tone at half of full scale. */
function levelAt(samples: readonly number[], hz: number, rate: number): number {
  const inner = samples.slice(samples.length / 4, (samples.length * 3) / 4);
  let [re, im, weight] = [0, 0, 0];
  for (const [at, sample] of inner.entries()) {
    const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / inner.length);
    re += sample * window * Math.cos((2 * Math.PI * hz * at) / rate);
    im += sample * window * Math.sin((2 * Math.PI * hz * at) / rate);
    weight += window;
  }
  return 20 * Math.log10(Math.hypot(re, im) / weight / 8192);
}

const samplesOf = (pcm: Buffer) => Array.from({ length: pcm.length / 2 }, (_, at) => pcm.readInt16LE(2 * at));
const heard = (ulaw: Buffer) => [...ulaw].map((code) => ulawPcm[code]!);
const inPieces = (whole: Buffer, bytes: number, push: (piece: Buffer) => Buffer) => {
  const pieces: Buffer[] = [];
  for (let at = 0; at < whole.length; at += bytes) pieces.push(push(whole.subarray(at, at + bytes)));
  return Buffer.concat(pieces);
};

test.each([16_000, 24_000])('of %i Hz nothing that a telephone can not carry comes back as another tone', (rate) => {
  for (const hz of [4200, 5000, 6100, 7900, 9000, 11_500].filter((each) => each < rate / 2)) {
    const stream = new PcmToUlaw(rate);
    const said = heard(inPieces(tone(hz, rate), 1920, (piece) => stream.push(piece)));
    for (let alias = 100; alias < 4000; alias += 100) expect(levelAt(said, alias, 8000), `${hz} Hz`).toBeLessThan(-50);
  }
});

test.each([16_000, 24_000])('speech goes through to %i Hz and back as loud as it was, without images', (rate) => {
  for (const hz of [300, 1000, 2100, 3300]) {
    const down = new PcmToUlaw(rate);
    const ulaw = Buffer.concat([inPieces(tone(hz, rate), 960, (piece) => down.push(piece)), down.end()]);
    expect(Math.abs(ulaw.length - 8000)).toBeLessThan(160);
    expect(Math.abs(levelAt(heard(ulaw), hz, 8000))).toBeLessThan(0.2);
    const up = new UlawToPcm(rate);
    const samples = samplesOf(inPieces(ulaw, 160, (piece) => up.push(piece)));
    expect(Math.abs(levelAt(samples, hz, rate))).toBeLessThan(0.3);
    for (let image = 8000 - hz; image < rate / 2; image += 8000)
      expect(levelAt(samples, image, rate)).toBeLessThan(-50);
  }
});

test('what is too loud is cut, and half a sample left out', () => {
  const loud = Buffer.alloc(961, 0x7f);
  expect(new PcmToUlaw(24_000).push(loud).length).toBe(160);
  expect(new UlawToPcm(16_000).push(Buffer.alloc(160, 0x80)).length).toBe(640);
});

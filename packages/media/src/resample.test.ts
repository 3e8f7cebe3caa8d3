import { expect, test } from 'vitest';
import { Resampler } from './resample.ts';

const tone = (hz: number, rate: number, seconds = 0.5) =>
  Float32Array.from({ length: rate * seconds }, (_, at) => Math.sin((2 * Math.PI * hz * at) / rate));

/** Without the ends, where a tone begins and stops. */
const levelDb = (samples: Float32Array) => {
  const inner = samples.subarray(samples.length / 4, (samples.length * 3) / 4);
  return 10 * Math.log10((inner.reduce((sum, each) => sum + each * each, 0) / inner.length) * 2);
};

const resampled = (input: Float32Array, from: number, to: number) => new Resampler(from, to).push(input);

/** What of a tone is there, in dB, among samples of a rate. */
function levelAt(samples: Float32Array, hz: number, rate: number): number {
  const from = Math.floor(samples.length / 4);
  const length = Math.floor(samples.length / 2);
  let [re, im, weight] = [0, 0, 0];
  for (let at = 0; at < length; at += 1) {
    const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / length);
    re += samples[from + at]! * window * Math.cos((2 * Math.PI * hz * at) / rate);
    im += samples[from + at]! * window * Math.sin((2 * Math.PI * hz * at) / rate);
    weight += window;
  }
  return 20 * Math.log10((2 * Math.hypot(re, im)) / weight);
}

const rates = [11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];

test.each(rates)('of %i Hz nothing above 4 kHz comes into 8 kHz, and speech comes through', (from) => {
  for (let hz = 4000; hz <= from / 2; hz += 311)
    expect(levelDb(resampled(tone(hz, from), from, 8000))).toBeLessThan(-50);
  for (let hz = 100; hz <= 3400; hz += 330) {
    const level = levelDb(resampled(tone(hz, from), from, 8000));
    expect(Math.abs(level), `${hz} Hz`).toBeLessThan(0.1);
  }
});

test.each([16_000, 24_000])('from 8 kHz to %i Hz no image of speech is made', (to) => {
  for (let hz = 200; hz <= 3400; hz += 160) {
    const output = resampled(tone(hz, 8000), 8000, to);
    expect(Math.abs(levelAt(output, hz, to)), `${hz} Hz`).toBeLessThan(0.1);
    for (let image = 8000 - hz; image < to / 2; image += 8000) expect(levelAt(output, image, to)).toBeLessThan(-50);
  }
});

test('a stream in frames of any length comes out as if it were whole, and none is lost', () => {
  for (const [from, to] of [
    [8000, 16_000],
    [24_000, 8000],
    [44_100, 8000],
    [8000, 8000],
  ] as const) {
    const input = tone(440, from, 1);
    const whole = new Resampler(from, to);
    const wanted = [...whole.push(input), ...whole.end()];
    const stream = new Resampler(from, to);
    const pieces: number[] = [];
    for (let at = 0, length = 1; at < input.length; at += length, length = (length * 7 + 3) % 1000)
      pieces.push(...stream.push(input.subarray(at, at + length)));
    pieces.push(...stream.end());
    expect(pieces).toEqual(wanted);
    expect(Math.abs(pieces.length - to)).toBeLessThan(to / 100);
  }
});

test('silence and a level stay what they are', () => {
  const level = new Resampler(24_000, 8000).push(new Float32Array(4800).fill(1000));
  for (const sample of level.subarray(200)) expect(sample).toBeCloseTo(1000, 1);
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ULAW_SILENCE, ulawPcm } from './g711.ts';
import { AGENT, CALLEE, StereoWav } from './stereo-wav.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-wav-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newFile = () => {
  files += 1;
  return path.join(folder, `${files}.wav`);
};
const frame = (code: number, length = 160) => Buffer.alloc(length, code);

/** The two sides of a file, as samples. */
function sides(file: string) {
  const wav = readFileSync(file);
  const samples = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + wav.length));
  return { wav, callee: samples.filter((_, at) => at % 2 === 0), agent: samples.filter((_, at) => at % 2 === 1) };
}

test('a recording is a WAV file: callee left, agent right, from the first frame to the last', async () => {
  const file = newFile();
  const wav = new StereoWav(file);
  for (let at = 0; at < 505; at += 1) {
    wav.write(AGENT, frame(at % 100));
    wav.write(CALLEE, frame(100 + (at % 100)));
  }
  expect(await wav.close()).toBe(505 * 160);
  expect(wav.failure).toBeUndefined();
  const written = sides(file);
  expect(written.wav.length).toBe(44 + 505 * 160 * 4);
  expect([written.wav.readUInt32LE(4), written.wav.readUInt32LE(40)]).toEqual([36 + 505 * 640, 505 * 640]);
  for (let at = 0; at < 505; at += 1) {
    expect(written.agent[at * 160 + 80]).toBe(ulawPcm[at % 100]);
    expect(written.callee[at * 160 + 80]).toBe(ulawPcm[100 + (at % 100)]);
  }
});

test('a side that says nothing for long is silent, and stays beside the other', async () => {
  const file = newFile();
  const wav = new StereoWav(file);
  for (let at = 0; at < 500; at += 1) wav.write(AGENT, frame(ULAW_SILENCE));
  wav.write(CALLEE, frame(1));
  await wav.close();
  const { callee } = sides(file);
  expect(callee.findIndex((sample) => sample !== 0)).toBe(500 * 160);
  expect(callee.length).toBe(501 * 160);
});

test("a callee's clock that is off, or a burst of late packets, moves the sides apart by 200 ms at most", async () => {
  const file = newFile();
  const wav = new StereoWav(file);
  for (let at = 0; at < 1000; at += 1) {
    wav.write(AGENT, frame(at % 2 ? 1 : ULAW_SILENCE));
    wav.write(CALLEE, frame(1, at % 10 ? 160 : 176));
  }
  expect(await wav.close()).toBeLessThanOrEqual(1000 * 160 + 1600 + 176);
});

test('a file that cannot be written fails the recording and nothing else', async () => {
  const wav = new StereoWav(path.join(folder, 'missing', 'x.wav'));
  for (let at = 0; at < 500; at += 1) wav.write(AGENT, frame(1));
  await wav.close();
  expect(wav.failure?.message).toContain('ENOENT');
});

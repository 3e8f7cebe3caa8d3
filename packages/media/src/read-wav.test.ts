import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readUlawWav } from './read-wav.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'media-wav-'));
});
afterAll(() => rm(folder, { recursive: true }));

const chunk = (id: string, content: Buffer) => {
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
};
const format = ({ coding = 7, channels = 1, rate = 8000 } = {}) => {
  const content = Buffer.alloc(16);
  content.writeUInt16LE(coding, 0);
  content.writeUInt16LE(channels, 2);
  content.writeUInt32LE(rate, 4);
  return chunk('fmt ', content);
};
const sound = Buffer.from([1, 2, 3]);

async function written(...chunks: Buffer[]): Promise<string> {
  const file = path.join(folder, 'a.wav');
  await writeFile(file, Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), ...chunks]));
  return file;
}

test('the sound of a file is read, whatever chunks stand before it', async () => {
  const odd = chunk('LIST', Buffer.from('abc'));
  expect(await readUlawWav(await written(odd, format(), odd, chunk('data', sound)))).toEqual(sound);
});

test.each([
  ['another coding', [format({ coding: 1 }), chunk('data', sound)]],
  ['two channels', [format({ channels: 2 }), chunk('data', sound)]],
  ['another rate', [format({ rate: 16_000 }), chunk('data', sound)]],
  ['a format that is cut off', [chunk('fmt ', Buffer.alloc(4)), chunk('data', sound)]],
  ['no sound', [format()]],
])('%s is refused by the name of the file', async (_, chunks) => {
  const file = await written(...chunks);
  await expect(readUlawWav(file)).rejects.toThrow(`${file} is no WAV file of µ-law, 8 kHz, one channel.`);
});

test('what is no WAV file at all is refused', async () => {
  const file = path.join(folder, 'b.wav');
  for (const text of ['', 'RIFF....AVI LIST', 'JUNK....WAVE']) {
    await writeFile(file, text);
    await expect(readUlawWav(file)).rejects.toThrow('is no WAV file');
  }
});

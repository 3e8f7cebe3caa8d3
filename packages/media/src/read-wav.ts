import { readFile } from 'node:fs/promises';
import { SAMPLE_RATE } from './g711.ts';

const ULAW = 7;

/** Reads a WAV file of µ-law, 8 kHz, one channel. @throws an Error that names what it is instead */
export async function readUlawWav(path: string): Promise<Buffer> {
  const file = await readFile(path);
  const unlike = () => new Error(`${path} is no WAV file of µ-law, 8 kHz, one channel.`);
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') throw unlike();
  let isUlaw = false;
  for (let at = 12; at + 8 <= file.length; ) {
    const id = file.toString('latin1', at, at + 4);
    const length = file.readUInt32LE(at + 4);
    const chunk = file.subarray(at + 8, at + 8 + length);
    if (id === 'fmt ' && chunk.length >= 16)
      isUlaw = chunk.readUInt16LE(0) === ULAW && chunk.readUInt16LE(2) === 1 && chunk.readUInt32LE(4) === SAMPLE_RATE;
    if (id === 'data' && isUlaw) return chunk;
    at += 8 + length + (length % 2);
  }
  throw unlike();
}

import { alawToUlaw, pcmToUlaw, Resampler, SAMPLE_RATE, ulawPcm } from '@trunkline/media';
import { soundFirst } from '../../foundation/values/sound-first.ts';
import { ByteReader } from './byte-reader.ts';

/** What is wrong with a file that should be a sound, as what it must be. */
export class WavFault extends Error {}
/** The sound is longer than it may be. */
export class SoundTooLong extends Error {}

/** The rates that are taken, in Hz. */
export const RATES = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];

/** Samples of one kind, as numbers of 16 bits. */
interface Encoding {
  bytes: number;
  read(from: DataView, at: number): number;
}

const alawPcm = Int16Array.from(
  alawToUlaw(Uint8Array.from({ length: 256 }, (_, code) => code)),
  (code) => ulawPcm[code]!,
);

/** By the format's tag and its bits. */
const encodings: Record<string, Encoding> = {
  '1 8': { bytes: 1, read: (from, at) => (from.getUint8(at) - 128) * 256 },
  '1 16': { bytes: 2, read: (from, at) => from.getInt16(at, true) },
  '1 24': { bytes: 3, read: (from, at) => from.getInt16(at + 1, true) + from.getUint8(at) / 256 },
  '1 32': { bytes: 4, read: (from, at) => from.getInt32(at, true) / 65_536 },
  '3 32': { bytes: 4, read: (from, at) => from.getFloat32(at, true) * 32_767 },
  '3 64': { bytes: 8, read: (from, at) => from.getFloat64(at, true) * 32_767 },
  '6 8': { bytes: 1, read: (from, at) => alawPcm[from.getUint8(at)]! },
  '7 8': { bytes: 1, read: (from, at) => ulawPcm[from.getUint8(at)]! },
};

const EXTENSIBLE = 0xfffe;
/** Lengths from here on are written by programs that don't know it yet. */
const UNKNOWN = 0x7fff_0000;
/** Samples that are worked on in one turn of the event loop: a millisecond or two. */
const IN_ONE_TURN = 8192;

/** A WAV file whose head has been read. */
export interface Wav {
  /** Samples of µ-law at 8 kHz that it comes to; nothing if its head doesn't tell. */
  samples: number | undefined;
  /** Those samples, while the file comes. Throws `WavFault` where it breaks off. */
  ulaw(): AsyncGenerator<Buffer>;
}

/**
 * Reads the head of a WAV file.
 * @throws WavFault for what is none, or none that is taken
 */
export async function openWav(content: AsyncIterable<Uint8Array>): Promise<Wav> {
  const bytes = new ByteReader(content);
  const head = await bytes.take(12);
  if (head?.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE')
    throw new WavFault('must be a WAV file');
  let format: Format | undefined;
  for (;;) {
    const chunk = await bytes.take(8);
    if (!chunk) throw new WavFault(format ? 'must have sound in it' : 'must be a WAV file that tells its format');
    const id = chunk.toString('latin1', 0, 4);
    const length = chunk.readUInt32LE(4);
    if (id === 'data') {
      if (!format) throw new WavFault('must be a WAV file that tells its format before its sound');
      return wavOf(format, length, bytes);
    }
    const read = id === 'fmt ' ? Math.min(length, 40) : 0;
    if (read > 0) format = formatOf(await bytes.take(read));
    if (!(await bytes.skip(length - read + (length % 2)))) throw new WavFault('must be whole, and breaks off');
  }
}

interface Format {
  encoding: Encoding;
  channels: number;
  rate: number;
}

function formatOf(chunk: Buffer | undefined): Format {
  if (!chunk || chunk.length < 16) throw new WavFault('must be a WAV file that tells its format');
  const [told, channels, rate] = [chunk.readUInt16LE(0), chunk.readUInt16LE(2), chunk.readUInt32LE(4)];
  const tag = told === EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : told;
  const encoding = encodings[`${tag} ${chunk.readUInt16LE(14)}`];
  if (!encoding)
    throw new WavFault('must be PCM of 8, 16, 24 or 32 bits, float, µ-law or A-law, and is of another format');
  if (channels !== 1 && channels !== 2) throw new WavFault(`must be mono or stereo, and has ${channels} channels`);
  if (!RATES.includes(rate))
    throw new WavFault(`must have a rate of ${RATES.slice(0, -1).join(', ')} or ${RATES.at(-1)} Hz, and has ${rate}`);
  if (chunk.readUInt16LE(12) !== encoding.bytes * channels)
    throw new WavFault('must be a WAV file whose head fits its samples');
  return { encoding, channels, rate };
}

function wavOf(format: Format, length: number, bytes: ByteReader): Wav {
  const { encoding, channels, rate } = format;
  const frame = encoding.bytes * channels;
  const isTold = length < UNKNOWN && length !== 0;
  const frames = isTold ? Math.floor(length / frame) : undefined;
  const samples = frames === undefined ? undefined : Math.floor((frames * SAMPLE_RATE) / rate);
  if (samples === 0) throw new WavFault('must have sound in it');
  return { samples, ulaw: () => ulawOf(format, bytes, { frames, samples }) };
}

/** The sound of a file: its channels together, at 8 kHz, as µ-law. */
async function* ulawOf(
  { encoding, channels, rate }: Format,
  bytes: ByteReader,
  told: { frames: number | undefined; samples: number | undefined },
): AsyncGenerator<Buffer> {
  const frame = encoding.bytes * channels;
  const resampler = new Resampler(rate, SAMPLE_RATE);
  let isEmpty = true;
  let framesLeft = told.frames ?? Number.POSITIVE_INFINITY;
  let left = told.samples ?? Number.POSITIVE_INFINITY;
  const encoded = (samples: Float32Array) => {
    const ulaw = Buffer.from(Uint8Array.from(samples.subarray(0, Math.min(samples.length, left)), pcmToUlaw));
    left -= ulaw.length;
    return ulaw;
  };
  while (framesLeft > 0) {
    const piece = await bytes.some(Math.min(framesLeft, IN_ONE_TURN) * frame, frame);
    if (!piece && told.frames === undefined) break;
    if (!piece) throw new WavFault('must be whole, and breaks off');
    const mono = monoOf(piece, encoding, channels);
    framesLeft -= mono.length;
    isEmpty = false;
    yield encoded(resampler.push(mono));
    await soundFirst();
  }
  if (isEmpty) throw new WavFault('must have sound in it');
  yield encoded(resampler.end());
}

function monoOf(piece: Buffer, { bytes, read }: Encoding, channels: number): Float32Array {
  const view = new DataView(piece.buffer, piece.byteOffset, piece.length);
  const mono = new Float32Array(piece.length / bytes / channels);
  for (let at = 0; at < mono.length; at += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += read(view, (at * channels + channel) * bytes);
    mono[at] = Number.isFinite(sum) ? sum / channels : 0;
  }
  return mono;
}

const HEADER = 58;

/** The head of a WAV file of µ-law at 8 kHz, one channel. */
export function ulawHeader(samples: number): Buffer {
  const header = Buffer.alloc(HEADER);
  header.write('RIFF', 0);
  header.writeUInt32LE(HEADER - 8 + samples, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(18, 16);
  header.writeUInt16LE(7, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('fact', 38);
  header.writeUInt32LE(4, 42);
  header.writeUInt32LE(samples, 46);
  header.write('data', 50);
  header.writeUInt32LE(samples, 54);
  return header;
}

/** Bytes of such a file. */
export const ulawFileBytes = (samples: number): number => HEADER + samples;

import { ulawPcm } from '@trunkline/media';
import { expect, test } from 'vitest';
import { openWav, RATES, ulawHeader, WavFault } from '../../../src/voices/sounds/wav.ts';
import { formatChunk, riffOf, toneChunk, toneFile, type WavOptions } from './wav-files.ts';

async function* inPieces(file: Buffer, length: number) {
  for (let at = 0; at < file.length; at += length) yield file.subarray(at, at + length);
}

async function ulawOf(file: Buffer, length = 65_536): Promise<Buffer> {
  const wav = await openWav(inPieces(file, length));
  const ulaw: Buffer[] = [];
  for await (const piece of wav.ulaw()) ulaw.push(piece);
  return Buffer.concat(ulaw);
}

/** How loud it is, in dB of a tone of the level that the files have; without its ends. */
const levelDb = (ulaw: Buffer) => {
  const inner = ulaw.subarray(ulaw.length / 4, (ulaw.length * 3) / 4);
  const power = inner.reduce((sum, code) => sum + ulawPcm[code]! ** 2, 0) / inner.length;
  return 10 * Math.log10(power / ((0.5 * 32_767) ** 2 / 2));
};

const kinds = ['pcm8', 'pcm16', 'pcm24', 'pcm32', 'float32', 'float64', 'ulaw', 'alaw'] as const;

test.each(RATES)('a sound at %i Hz of every kind is as long and as loud as it was', async (rate) => {
  for (const kind of kinds)
    for (const channels of [1, 2] as const) {
      const options: WavOptions = { rate, kind, channels, seconds: 0.4, isExtensible: channels === 2 };
      const ulaw = await ulawOf(toneFile(options), 1000);
      expect(ulaw.length).toBe(3200);
      expect(Math.abs(levelDb(ulaw)), `${kind} ${channels}`).toBeLessThan(0.2);
    }
});

test('what lies above the band of telephones is not heard', async () => {
  for (const rate of RATES.filter((each) => each > 8000))
    for (const hz of [4100, 5000, rate / 2 - 300].filter((each) => each < rate / 2))
      expect(
        levelDb(await ulawOf(toneFile({ rate, kind: 'pcm16', seconds: 0.3 }, hz))),
        `${hz} of ${rate}`,
      ).toBeLessThan(-50);
});

test('µ-law at 8 kHz stays as it is, but for a zero that has a sign', async () => {
  const codes = Buffer.from(Array.from({ length: 256 }, (_, code) => code));
  const head = Buffer.alloc(8);
  head.write('data');
  head.writeUInt32LE(256, 4);
  const file = riffOf(formatChunk({ rate: 8000, kind: 'ulaw' }), head, codes);
  const wanted = Buffer.from(codes);
  wanted[0x7f] = 0xff;
  expect(await ulawOf(file)).toEqual(wanted);
  expect(await ulawOf(Buffer.concat([ulawHeader(256), codes]))).toEqual(wanted);
});

const options: WavOptions = { rate: 16_000, kind: 'pcm16', seconds: 0.1 };

function changed(at: number, value: number): Buffer {
  const file = riffOf(formatChunk(options), toneChunk(options, 440));
  file.writeUInt16LE(value, at);
  return file;
}

test.each<[string, Buffer, RegExp]>([
  ['nothing', Buffer.alloc(0), /must be a WAV file/],
  ['a text', Buffer.from('RIFFRAFF'.repeat(100)), /must be a WAV file/],
  ['an MP3', Buffer.concat([Buffer.from('ID3\u0003'), Buffer.alloc(2000)]), /must be a WAV file/],
  ['no format', riffOf(toneChunk(options, 440)), /tells its format before its sound/],
  ['no sound', riffOf(formatChunk(options)), /must have sound in it/],
  [
    'an empty sound',
    riffOf(formatChunk(options), toneChunk({ ...options, seconds: 0.00001 }, 440)),
    /must (have sound|be whole)/,
  ],
  ['ADPCM', changed(20, 2), /is of another format/],
  ['12 bits', changed(34, 12), /is of another format/],
  ['six channels', changed(22, 6), /has 6 channels/],
  ['a rate of 96 kHz', riffOf(formatChunk({ ...options, rate: 96_000 }), toneChunk(options, 440)), /and has 96000/],
  ['a head that does not fit', changed(32, 4), /whose head fits its samples/],
  ['half a file', toneFile(options).subarray(0, 2000), /breaks off/],
])('%s is refused with what it must be', async (_, file, message) => {
  const error = await ulawOf(file).then(
    () => expect.unreachable(),
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(WavFault);
  expect(error.message).toMatch(message);
});

test('garbage of any kind is refused or turned into sound, and nothing else happens', async () => {
  let seed = 7;
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  for (let round = 0; round < 300; round += 1) {
    const file = toneFile({ ...options, seconds: 0.01 });
    for (let each = 0; each < 4; each += 1) file[Math.floor(next() * 80)] = Math.floor(next() * 256);
    const ulaw = await ulawOf(file, 1 + Math.floor(next() * 100)).catch((error) => error);
    if (!Buffer.isBuffer(ulaw)) expect(ulaw).toBeInstanceOf(WavFault);
  }
});

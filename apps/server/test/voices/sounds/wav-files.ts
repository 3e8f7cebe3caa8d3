import { pcmToUlaw, ulawToAlaw } from '@trunkline/media';

export interface WavOptions {
  rate: number;
  channels?: 1 | 2;
  kind: 'pcm8' | 'pcm16' | 'pcm24' | 'pcm32' | 'float32' | 'float64' | 'ulaw' | 'alaw';
  seconds?: number;
  /** Written as WAVE_FORMAT_EXTENSIBLE. */
  isExtensible?: boolean;
}

const kinds: Record<
  WavOptions['kind'],
  { tag: number; bytes: number; write(to: Buffer, at: number, level: number): void }
> = {
  pcm8: { tag: 1, bytes: 1, write: (to, at, level) => to.writeUInt8(Math.round(level * 127) + 128, at) },
  pcm16: { tag: 1, bytes: 2, write: (to, at, level) => to.writeInt16LE(Math.round(level * 32_767), at) },
  pcm24: { tag: 1, bytes: 3, write: (to, at, level) => to.writeIntLE(Math.round(level * 8_388_607), at, 3) },
  pcm32: { tag: 1, bytes: 4, write: (to, at, level) => to.writeInt32LE(Math.round(level * 2_147_483_647), at) },
  float32: { tag: 3, bytes: 4, write: (to, at, level) => to.writeFloatLE(level, at) },
  float64: { tag: 3, bytes: 8, write: (to, at, level) => to.writeDoubleLE(level, at) },
  ulaw: { tag: 7, bytes: 1, write: (to, at, level) => to.writeUInt8(pcmToUlaw(Math.round(level * 32_767)), at) },
  alaw: {
    tag: 6,
    bytes: 1,
    write: (to, at, level) => to.writeUInt8(ulawToAlaw(Uint8Array.of(pcmToUlaw(Math.round(level * 32_767))))[0]!, at),
  },
};

const chunkOf = (id: string, content: Buffer) => {
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
};

/** The chunks of a WAV file, in the form that all have: `RIFF`, and a length. */
export const riffOf = (...chunks: Buffer[]): Buffer => chunkOf('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks]));

/** The `fmt ` chunk of such a file, with what a test has otherwise. */
export function formatChunk({ rate, kind, channels = 1, isExtensible = false }: WavOptions): Buffer {
  const { tag, bytes } = kinds[kind];
  const content = Buffer.alloc(isExtensible ? 40 : 16);
  content.writeUInt16LE(isExtensible ? 0xfffe : tag, 0);
  content.writeUInt16LE(channels, 2);
  content.writeUInt32LE(rate, 4);
  content.writeUInt32LE(rate * bytes * channels, 8);
  content.writeUInt16LE(bytes * channels, 12);
  content.writeUInt16LE(bytes * 8, 14);
  if (isExtensible) content.writeUInt16LE(tag, 24);
  return chunkOf('fmt ', content);
}

/** The samples of a tone of half the full level, as its `data` chunk. */
export function toneChunk({ rate, kind, channels = 1, seconds = 1 }: WavOptions, hz: number): Buffer {
  const { bytes, write } = kinds[kind];
  const frames = Math.round(rate * seconds);
  const content = Buffer.alloc(frames * bytes * channels);
  for (let frame = 0; frame < frames; frame += 1)
    for (let channel = 0; channel < channels; channel += 1)
      write(content, (frame * channels + channel) * bytes, 0.5 * Math.sin((2 * Math.PI * hz * frame) / rate));
  return chunkOf('data', content);
}

/** A WAV file of a tone. */
export const toneFile = (options: WavOptions, hz = 440): Buffer =>
  riffOf(
    formatChunk(options),
    chunkOf('LIST', Buffer.from('INFO')),
    toneChunk(options, hz),
    chunkOf('id3 ', Buffer.alloc(7)),
  );

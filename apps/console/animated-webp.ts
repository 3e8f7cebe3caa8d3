// Joins pictures in WebP, as a browser writes them, to one that moves: https://developers.google.com/speed/webp/docs/riff_container

/** A part of a RIFF file, which an even number of bytes takes. */
function chunk(name: string, ...content: Uint8Array[]): Buffer {
  const bytes = Buffer.concat(content);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  return Buffer.concat([Buffer.from(name, 'latin1'), size, bytes, Buffer.alloc(bytes.length % 2)]);
}

/** Numbers of 24 bits. */
function triples(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 3);
  for (const [at, value] of values.entries()) bytes.writeUIntLE(value, at * 3, 3);
  return bytes;
}

const HEAD = 12;
const IS_ANIMATED = 0b10;
/** Each frame is whole, and takes the place of the one before. */
const NO_BLENDING = 0b10;

/** The picture's own data, without what stands around it. */
function dataOf(picture: Buffer): Buffer {
  for (let at = HEAD; at < picture.length; ) {
    const end = at + 8 + picture.readUInt32LE(at + 4);
    if (/^VP8[ L]$/.test(picture.toString('latin1', at, at + 4))) return picture.subarray(at, end + (end % 2));
    at = end + (end % 2);
  }
  throw new Error('This is no picture in WebP.');
}

/** A picture that shows each of others for so many milliseconds, again and again. All have the same size. */
export function animated(
  pictures: readonly Buffer[],
  ms: readonly number[],
  [width, height]: readonly [number, number],
): Buffer {
  const size = [width - 1, height - 1] as const;
  const frames = pictures.map((picture, at) =>
    chunk('ANMF', triples(0, 0, ...size, ms[at]!), Buffer.from([NO_BLENDING]), dataOf(picture)),
  );
  const canvas = chunk('VP8X', Buffer.from([IS_ANIMATED, 0, 0, 0]), triples(...size));
  const forEver = chunk('ANIM', Buffer.alloc(6));
  return chunk('RIFF', Buffer.from('WEBP', 'latin1'), canvas, forEver, ...frames);
}

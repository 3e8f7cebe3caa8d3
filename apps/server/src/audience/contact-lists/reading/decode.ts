import { isAscii, isUtf8 } from 'node:buffer';
import type { components } from '../../../foundation/values/generated/contract.ts';
import { type Detected, detectEncoding } from './detect-encoding.ts';
import { FileFault } from './file-fault.ts';

const BLOCK_BYTES = 64 * 1024;
/** Of a text in a code page so many blocks are looked at before any of it is read. */
const SAMPLE_BLOCKS = 4;
const FIRST_LINE_BYTES = 4096;

export type Encoding = components['schemas']['ContactListEncoding'];

/** How a text's bytes are read. */
export interface TextEncoding {
  encoding: Encoding;
  /** Whether nothing in the file says so. */
  encodingGuessed: boolean;
  /** How certain it is then, from 0 to 1, if its words were to tell. */
  encodingCertainty?: number;
}

/** What is known of a text before it is read. */
export interface DecodeOptions {
  /** The encoding, where somebody has said it. */
  encoding?: Encoding | undefined;
  /** ISO 3166-1 alpha-2: where its people are. */
  country?: string | undefined;
}

const BINARY_FILES: [magic: number[], message: string][] = [
  [[0x50, 0x4b, 0x03, 0x04], 'This is an Excel workbook, or a zip file. Save it as CSV and upload that.'],
  [
    [0xd0, 0xcf, 0x11, 0xe0],
    'This is an old Excel workbook (.xls), or one with a password. Save it as .xlsx without a password, or as CSV, and upload that.',
  ],
  [[0x25, 0x50, 0x44, 0x46], 'This is a PDF file. Upload a CSV file.'],
  [[0x1f, 0x8b], 'This is a gzip file. Unpack it and upload the CSV file that it holds.'],
  [[0xff, 0xfe, 0x00, 0x00], 'This file is in UTF-32. Save it as CSV in UTF-8 and upload that.'],
  [[0x00, 0x00, 0xfe, 0xff], 'This file is in UTF-32. Save it as CSV in UTF-8 and upload that.'],
];

const startsWith = (bytes: Uint8Array, magic: number[]) => magic.every((byte, index) => bytes[index] === byte);

/** Re-cuts a stream into blocks of one size, so that no decision hangs on how the network cut it. The block is reused. */
async function* blocks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  let filled = 0;
  for await (const chunk of source) {
    for (let offset = 0; offset < chunk.length; ) {
      const part = chunk.subarray(offset, offset + BLOCK_BYTES - filled);
      block.set(part, filled);
      filled += part.length;
      offset += part.length;
      if (filled === BLOCK_BYTES) {
        yield block;
        filled = 0;
      }
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

/** UTF-16 without a byte order mark: mostly Latin text, so every second byte is zero nearly throughout. */
function guessUtf16(block: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const pairs = Math.min(block.length, 4096) >> 1;
  let even = 0;
  let odd = 0;
  for (let pair = 0; pair < pairs; pair += 1) {
    if (block[pair * 2] === 0) even += 1;
    if (block[pair * 2 + 1] === 0) odd += 1;
  }
  if (odd > pairs * 0.6 && even === 0) return 'utf-16le';
  if (even > pairs * 0.6 && odd === 0) return 'utf-16be';
  return undefined;
}

function utf16Of(first: Buffer): TextEncoding | undefined {
  if (startsWith(first, [0xff, 0xfe])) return { encoding: 'utf-16le', encodingGuessed: false };
  if (startsWith(first, [0xfe, 0xff])) return { encoding: 'utf-16be', encodingGuessed: false };
  const encoding = guessUtf16(first);
  return encoding && { encoding, encodingGuessed: true };
}

/** The block without a UTF-8 character that its end has cut in two. */
function withoutCutCharacter(block: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, block.length); back += 1) {
    const byte = block[block.length - back]!;
    if (byte < 0x80) return block;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? block.subarray(0, block.length - back) : block;
    }
  }
  return block;
}

/** The readings of a text of which none is certain, for a person. */
function unclear({ readings }: Extract<Detected, { readings: unknown }>): FileFault {
  const shown = readings.map(({ encoding, word }) => `“${word}” in ${encoding}`);
  const how = shown.length > 0 ? ` It reads ${anyOf.format(shown)}.` : '';
  return new FileFault(
    'unclear_encoding',
    `The file doesn't say in which code page its text is, and its words don't show it.${how} Save it as "CSV UTF-8", or say which one it is by encoding.`,
  );
}

const anyOf = new Intl.ListFormat('en', { type: 'disjunction' });

/** Decodes to the end what is in one encoding. @param fault what is wrong if it isn't; without it its letters are left out */
async function* decodeAll(source: AsyncIterable<Uint8Array>, encoding: Encoding, fault?: string) {
  const decoder = new TextDecoder(encoding, { fatal: fault !== undefined });
  const read = (bytes?: Uint8Array): string => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
    } catch {
      throw new FileFault('unreadable_file', fault!);
    }
  };
  for await (const block of source) {
    const text = read(block);
    if (text.includes('\0')) throw notText();
    yield text;
  }
  const rest = read();
  if (rest) yield rest;
}

/** The code page of a text that is no UTF-8, and the blocks that were read to find it. */
async function codePageOf(
  rest: AsyncIterator<Buffer>,
  { block, firstLine, country }: { block: Buffer; firstLine: string | undefined; country: string | undefined },
): Promise<{ sample: Buffer; found: Exclude<Detected, { readings: unknown }> }> {
  const blocks = [Buffer.from(block)];
  while (blocks.length < SAMPLE_BLOCKS) {
    const { value, done } = await rest.next();
    if (done) break;
    blocks.push(Buffer.from(value));
  }
  const sample = Buffer.concat(blocks);
  if (sample.includes(0)) throw notText();
  const lines = blocks.length < SAMPLE_BLOCKS ? sample : sample.subarray(0, sample.lastIndexOf('\n') + 1);
  const found = detectEncoding(lines, { firstLine, country });
  if ('readings' in found) throw unclear(found);
  return { sample, found };
}

/** The encoding that a text's first block says, or shows by its zeros. */
function saidBy(block: Buffer): TextEncoding | undefined {
  const binary = BINARY_FILES.find(([magic]) => startsWith(block, magic));
  if (binary) throw new FileFault('unreadable_file', binary[1]);
  const isUtf8 = startsWith(block, [0xef, 0xbb, 0xbf]);
  return isUtf8 ? { encoding: 'utf-8', encodingGuessed: false } : utf16Of(block);
}

/**
 * Decodes a text file: in the encoding that was said; in UTF-8 (with or without byte order mark) or UTF-16; or, if the first
 * 64 KiB block with a letter outside ASCII is not UTF-8, in the code page that its words show.
 * @param tell is called before the text that is read so; not at all for ASCII, which is UTF-8
 * @returns the text in pieces of at most 256 Ki characters, without a byte order mark; the pieces don't depend on how
 * the source was cut.
 * @throws FileFault `unreadable_file` for an empty or binary file, with what to do about it; `unclear_encoding`
 */
export async function* decode(
  source: AsyncIterable<Uint8Array>,
  tell: (encoding: TextEncoding) => void = () => {},
  { encoding: wanted, country }: DecodeOptions = {},
): AsyncGenerator<string> {
  const rest = blocks(source);
  try {
    yield* decodeBlocks(rest, tell, { encoding: wanted, country });
  } finally {
    await rest.return(undefined);
  }
}

async function* decodeBlocks(
  rest: AsyncGenerator<Buffer>,
  tell: (encoding: TextEncoding) => void,
  { encoding: wanted, country }: DecodeOptions,
): AsyncGenerator<string> {
  const first = await rest.next();
  if (first.done) throw new FileFault('unreadable_file', 'The file is empty.');
  const said = saidBy(first.value);
  const encoding = wanted ?? said?.encoding;
  if (encoding) {
    if (wanted) tell({ encoding, encodingGuessed: false });
    else if (said!.encoding !== 'utf-8') tell(said!);
    yield* decodeAll(after(first.value, rest), encoding, wanted && notIn(wanted));
    return;
  }
  let firstLine: string | undefined;
  for await (const block of after(first.value, rest)) {
    if (block.includes(0)) throw notText();
    if (isAscii(block)) {
      const text = block.toString('latin1');
      firstLine ??= text.slice(0, FIRST_LINE_BYTES).split(/[\r\n]/, 1)[0];
      yield text;
    } else if (isUtf8(withoutCutCharacter(block))) {
      yield* decodeAll(after(block, rest), 'utf-8');
      return;
    } else {
      const { sample, found } = await codePageOf(rest, { block, firstLine, country });
      const { encoding, certainty } = found;
      tell({ encoding, encodingGuessed: true, encodingCertainty: certainty });
      yield* decodeAll(after(sample, rest), encoding, BROKEN);
      return;
    }
  }
}

async function* after<Block extends Uint8Array>(block: Block, rest: AsyncIterator<Block>): AsyncGenerator<Block> {
  yield block;
  for (;;) {
    const { value, done } = await rest.next();
    if (done) return;
    yield value;
  }
}

const BROKEN =
  'The text is broken: some of its letters are in another encoding than those before. Save it as "CSV UTF-8".';
const notIn = (encoding: Encoding) =>
  `The text is not in ${encoding}, as encoding says. Leave it out to have it found.`;

const notText = () =>
  new FileFault('unreadable_file', 'This is not a text file. Save it as CSV in UTF-8 and upload that.');

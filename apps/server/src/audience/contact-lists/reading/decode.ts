import { isAscii, isUtf8 } from 'node:buffer';
import { FileFault } from './file-fault.ts';

const BLOCK_BYTES = 64 * 1024;

/** How a text's bytes are read. */
export interface TextEncoding {
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  /** Whether nothing in the file says so. */
  encodingGuessed: boolean;
}

const BINARY_FILES: [magic: number[], message: string][] = [
  [[0x50, 0x4b, 0x03, 0x04], 'This is an Excel workbook (or a zip file). Save it as CSV and upload that.'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'This is an old Excel workbook. Save it as CSV and upload that.'],
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

/**
 * Decodes a text file in UTF-8 (with or without byte order mark), UTF-16, or, where the first 64 KiB block with a
 * letter outside ASCII is not UTF-8, windows-1252, which is what spreadsheets save as "CSV".
 * @param tell is called before the text that is read so; not at all for ASCII, which is UTF-8
 * @returns the text in pieces of at most 64 KiB characters, without a byte order mark; the pieces don't depend on how
 * the source was cut.
 * @throws FileFault `unreadable_file` for an empty or binary file, with what to do about it.
 */
export async function* decode(
  source: AsyncIterable<Uint8Array>,
  tell: (encoding: TextEncoding) => void = () => {},
): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  let wide = false;
  let first = true;
  for await (const block of blocks(source)) {
    if (first) {
      first = false;
      const binary = BINARY_FILES.find(([magic]) => startsWith(block, magic));
      if (binary) throw new FileFault('unreadable_file', binary[1]);
      const utf16 = utf16Of(block);
      wide = utf16 !== undefined;
      if (utf16) {
        decoder = new TextDecoder(utf16.encoding);
        tell(utf16);
      }
      if (startsWith(block, [0xef, 0xbb, 0xbf])) decoder = new TextDecoder('utf-8');
    }
    if (!wide && block.includes(0)) throw notText();
    if (!decoder && isAscii(block)) {
      yield block.toString('latin1');
      continue;
    }
    if (!decoder) {
      const isUnicode = isUtf8(withoutCutCharacter(block));
      decoder = new TextDecoder(isUnicode ? 'utf-8' : 'windows-1252', { ignoreBOM: true });
      if (!isUnicode) tell({ encoding: 'windows-1252', encodingGuessed: true });
    }
    const text = decoder.decode(block, { stream: true });
    if (wide && text.includes('\0')) throw notText();
    yield text;
  }
  if (first) throw new FileFault('unreadable_file', 'The file is empty.');
  const rest = decoder?.decode();
  if (rest) yield rest;
}

const notText = () =>
  new FileFault('unreadable_file', 'This is not a text file. Save it as CSV in UTF-8 and upload that.');

import { randomUUID } from 'node:crypto';
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import yauzl from 'yauzl';
import { FileFault } from '../file-fault.ts';

/** As many parts as are looked at, and bytes that are unpacked of one workbook. */
const MOST_PARTS = 10_000;
const MOST_UNPACKED = 2 * 1024 ** 3;
const MOST_UNPACKED_SMALL = 16 * 1024 ** 2;

/** A workbook's parts, by their names. */
export interface Parts {
  has(name: string): boolean;
  /** The content of a part that may be large. It fails past what the workbook may be unpacked to. */
  read(name: string): AsyncIterable<Buffer>;
  /** The same of one that is small. */
  readSmall(name: string): AsyncIterable<Buffer>;
}

const broken = () =>
  new FileFault('unreadable_file', 'The workbook is broken. Open it, save it again as .xlsx, and upload that.');
const tooLarge = () =>
  new FileFault('file_too_large', 'The workbook unpacks to too much. Split it, or save it as CSV.');

const OTHERS: readonly [part: RegExp, message: string][] = [
  [/^xl\/workbook\.bin$/, 'This is a binary Excel workbook (.xlsb). Save it as .xlsx or CSV and upload that.'],
  [/^content\.xml$/, 'This is an OpenDocument file (.ods). Save it as .xlsx or CSV and upload that.'],
  [/^Index\/.*\.iwa$/, 'This is a Numbers document. Export it as .xlsx or CSV and upload that.'],
  [/^word\//, 'This is a Word document. Upload a CSV file, or an Excel workbook (.xlsx).'],
];

/** What a zip file is that is no workbook. */
function otherFile(names: readonly string[]): FileFault {
  const [, message] = OTHERS.find(([part]) => names.some((name) => part.test(name))) ?? [];
  return new FileFault(
    'unreadable_file',
    message ?? 'This is a zip file. Unpack it, and upload the CSV file or workbook in it.',
  );
}

/**
 * Keeps a zip file on the disk, without a name, while `use` reads its parts.
 * @throws FileFault for one that is no workbook, or is broken
 */
export async function* withParts<Item>(
  source: AsyncIterable<Uint8Array>,
  use: (parts: Parts) => AsyncGenerator<Item>,
): AsyncGenerator<Item> {
  const file = path.join(tmpdir(), `trunkline-${randomUUID()}`);
  const descriptor = openSync(file, 'wx+', 0o600);
  try {
    unlinkSync(file);
    // Each piece is written before the next is asked for: its memory may be gone by then.
    for await (const piece of source) {
      for (let at = 0; at < piece.length; ) at += writeSync(descriptor, piece, at);
    }
    yield* use(await openParts(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

async function openParts(descriptor: number): Promise<Parts> {
  const entries = new Map<string, yauzl.Entry>();
  let zip: yauzl.ZipFile;
  try {
    zip = await yauzl.fromFdPromise(descriptor, { lazyEntries: true, autoClose: false, strictFileNames: false });
    for await (const entry of zip.eachEntry()) {
      if (entries.size === MOST_PARTS) throw tooLarge();
      entries.set(entry.fileName, entry);
    }
  } catch (error) {
    throw error instanceof FileFault ? error : broken();
  }
  if (![...entries.keys()].some((name) => /^xl\/workbook\d*\.xml$/.test(name))) throw otherFile([...entries.keys()]);
  let left = MOST_UNPACKED;
  async function* read(name: string, most: number): AsyncGenerator<Buffer> {
    const entry = entries.get(name);
    if (!entry) throw broken();
    // What is unpacked is held to this size.
    left -= entry.uncompressedSize;
    if (entry.uncompressedSize > most || left < 0) throw tooLarge();
    try {
      const stream = await zip.openReadStreamPromise(entry);
      yield* stream as AsyncIterable<Buffer>;
    } catch (error) {
      throw error instanceof FileFault ? error : broken();
    }
  }
  return {
    has: (name) => entries.has(name),
    read: (name) => read(name, MOST_UNPACKED),
    readSmall: (name) => read(name, MOST_UNPACKED_SMALL),
  };
}

import type { DocumentType } from '../../../foundation/database/schema.ts';
import { decodeText } from './decode-text.ts';
import { DocumentFault } from './document-fault.ts';
import { foreignFile, foreignZip } from './foreign-file.ts';
import type { ReadingLimits } from './limits.ts';
import { readCsv, readJson } from './read-structured.ts';
import { textTypeOf } from './text-type.ts';
import { tidyText } from './tidy-text.ts';

/** A document's text, tidied up. */
export interface ReadText {
  fileType: DocumentType;
  text: string;
  bytes: number;
}

/** Reads the text of a file, which is what its content says it is. Throws `DocumentFault`. */
export async function readFile(bytes: Buffer, limits: ReadingLimits): Promise<ReadText> {
  if (bytes.length === 0) throw new DocumentFault('The file is empty.');
  const { fileType, text: raw } = await rawText(bytes, limits);
  const text = tidyText(raw, fileType);
  if (text === '') throw new DocumentFault('The file holds no text.', fileType);
  const size = Buffer.byteLength(text);
  if (size > limits.textBytes) throw tooMuchText(limits, fileType);
  return { fileType, text, bytes: size };
}

async function rawText(bytes: Buffer, limits: ReadingLimits): Promise<Omit<ReadText, 'bytes'>> {
  // What reads PDF, DOCX and HTML takes longer to load than a text takes to read.
  if (isPdf(bytes)) {
    const { readPdf } = await import('./read-pdf.ts');
    return { fileType: 'pdf', text: await readPdf(bytes, limits) };
  }
  if (bytes.toString('latin1', 0, 4) === 'PK\x03\x04') {
    if (!bytes.includes('word/')) throw new DocumentFault(foreignZip(bytes));
    const { readDocx } = await import('./read-docx.ts');
    return { fileType: 'docx', text: await readDocx(bytes) };
  }
  const foreign = foreignFile(bytes);
  if (foreign) throw new DocumentFault(foreign);
  return readText(decodeText(bytes), bytes.length, limits);
}

/** The header stands at the beginning, or after some bytes that a mail program or printer put there. */
function isPdf(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, 1024);
  return /^[\s\xef\xbb\xbf]*%PDF-\d/.test(head) || (head.includes('%PDF-') && bytes.includes('%%EOF'));
}

async function readText(text: string, size: number, limits: ReadingLimits): Promise<Omit<ReadText, 'bytes'>> {
  // Of a page, much may be markup; of the others, what is in the file is what comes out.
  const isPage = /^\s*</.test(text.slice(0, 1024));
  if (size > 2 * limits.textBytes && !isPage) throw tooMuchText(limits);
  const fileType = textTypeOf(text);
  if (fileType === 'html') {
    const { readHtml } = await import('./read-html.ts');
    return { fileType, text: readHtml(text) };
  }
  if (fileType === 'json') return { fileType, text: readJson(text) };
  return { fileType, text: fileType === 'csv' ? readCsv(text) : text };
}

const tooMuchText = ({ textBytes }: ReadingLimits, fileType?: DocumentType) =>
  new DocumentFault(`The file holds more than ${textBytes / 1_000_000} MB of text. Split it up.`, fileType);

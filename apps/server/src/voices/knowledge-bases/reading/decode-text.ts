import { isAscii, isUtf8 } from 'node:buffer';
import { DocumentFault } from './document-fault.ts';

const NOT_TEXT = 'This is no document that can be read. Upload PDF, DOCX, text, Markdown, HTML, CSV or JSON.';

/** Characters that no text holds, but binary files do. */
const BINARY = /(?!\s)\p{Cc}/gu;

/** UTF-16 without a byte order mark: mostly Latin text, so every second byte is zero nearly throughout. */
function guessUtf16(bytes: Buffer): string | undefined {
  const pairs = Math.min(bytes.length, 4096) >> 1;
  let even = 0;
  let odd = 0;
  for (let pair = 0; pair < pairs; pair += 1) {
    if (bytes[pair * 2] === 0) even += 1;
    if (bytes[pair * 2 + 1] === 0) odd += 1;
  }
  if (odd > pairs * 0.6 && even === 0) return 'utf-16le';
  return even > pairs * 0.6 && odd === 0 ? 'utf-16be' : undefined;
}

/** The encoding that an HTML page says it has, where we know it. */
function declaredEncoding(bytes: Buffer): string | undefined {
  const [, name] = bytes.toString('latin1', 0, 2048).match(/<meta[^>]+charset\s*=\s*["']?([\w-]+)/i) ?? [];
  try {
    return name && new TextDecoder(name).encoding;
  } catch {
    return undefined;
  }
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const guessed = guessUtf16(bytes);
  if (guessed) return guessed;
  if (isAscii(bytes) || isUtf8(bytes) || isFaultyUtf8(bytes)) return 'utf-8';
  return declaredEncoding(bytes) ?? 'windows-1252';
}

/** Whether it reads as UTF-8 but for some faults; text of another encoding has little else. */
function isFaultyUtf8(bytes: Buffer): boolean {
  const beyondAscii = bytes.toString('utf8', 0, 1_000_000).match(/\P{ASCII}/gu) ?? [];
  return beyondAscii.filter((character) => character === '\ufffd').length <= beyondAscii.length / 2;
}

/**
 * Decodes a text file: by its byte order mark, as UTF-16, as UTF-8 (also with some faults), as the encoding that an HTML
 * page declares, else as windows-1252. Throws `DocumentFault` for what is no text.
 */
export function decodeText(bytes: Buffer): string {
  const encoding = encodingOf(bytes);
  if (!encoding.startsWith('utf-16') && bytes.subarray(0, 65_536).includes(0)) throw new DocumentFault(NOT_TEXT);
  const text = new TextDecoder(encoding).decode(bytes);
  const start = text.slice(0, 65_536);
  const strange = start.match(BINARY)?.length ?? 0;
  if (strange > Math.max(2, start.length * 0.005)) throw new DocumentFault(NOT_TEXT);
  return text;
}

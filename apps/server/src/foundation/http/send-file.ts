import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Handler } from 'express';

interface Content {
  bytes: Buffer;
  etag: string;
}

/** Beside a file lies the same compressed; the first that the client takes is sent. */
const COMPRESSED = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/**
 * Sends a file that doesn't change while the server runs; it is read when first asked for.
 * @param headers go with it, in the place of its own
 */
export function sendFile(file: URL, type: string, headers: Record<string, string> = {}): Handler {
  const kept = new Map<string, Promise<Content | undefined>>();
  const read = async (ending: string): Promise<Content | undefined> => {
    const bytes = await readFile(new URL(file.href + ending)).catch(() => undefined);
    if (!bytes) kept.delete(ending);
    return bytes && { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
  };
  const contentOf = (ending: string) => {
    if (!kept.has(ending)) kept.set(ending, read(ending));
    return kept.get(ending)!;
  };
  return async (request, response) => {
    const accepted = request.acceptsEncodings();
    const [encoding, ending] = COMPRESSED.find(([name]) => accepted.includes(name)) ?? [undefined, ''];
    const compressed = ending ? await contentOf(ending) : undefined;
    const content = compressed ?? (await contentOf(''));
    if (!content) return void response.status(404).type('text/plain').send('This file has not been built.\n');
    if (compressed && encoding) response.set('Content-Encoding', encoding);
    // Asked again each time, and sent again where it has changed.
    response.set({ 'Cache-Control': 'no-cache', ETag: content.etag, Vary: 'Accept-Encoding' });
    response.set({ ...headers, 'Content-Type': type }).send(content.bytes);
  };
}

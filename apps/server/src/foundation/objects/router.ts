/// <reference lib="es2024.arraybuffer" />
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type Response, type Router } from 'express';
import { ServiceError } from '../values/service-error.ts';
import type { DiskObjectStore } from './disk.ts';
import { isKey, ObjectTooLarge } from './object-store.ts';
import type { Grant } from './signature.ts';

/** A file that comes, among others of its owner. */
interface ComingFile {
  /** How many bytes more of it are kept, and why no more. */
  left(): number;
  message: string;
  /** Passes on its bytes while there is room for them; throws what `refusal` makes where there is none. */
  counted(content: AsyncIterable<Uint8Array>, refusal: () => ServiceError): AsyncIterable<Uint8Array>;
  /** Ends it. @param isCounted whether it is kept, and counted where it is kept */
  leave(isCounted: boolean): void;
}

/** What decides on uploads besides their signed URLs. */
export interface UploadJudge {
  /** Begins to take a file; nothing where nobody waits for one. Throws where no more can come at a time. */
  begin(key: string): Promise<ComingFile | undefined>;
  /**
   * Told of every complete upload, before its PUT is answered; must be safe to run twice for a key. Answers why the file
   * is not kept, where there was no room for it after all.
   */
  onStored(key: string): Promise<string | undefined>;
  /** The bytes of an upload as they come; throws where they come too slowly. */
  read(request: IncomingMessage): AsyncIterable<Uint8Array>;
}

/** What the request's signed URL allows. Without a right signature nobody learns whether there is an object. */
function grantOf(store: DiskObjectStore, method: 'PUT' | 'GET', request: Request): Grant | undefined {
  const url = new URL(request.originalUrl, 'http://server');
  const key = url.pathname.replace(/^.*?\/objects\//, '');
  return isKey(key) ? store.grantOf(method, key, url.searchParams) : undefined;
}

const notGranted = () => new ServiceError('forbidden', 'This URL is not valid, or not valid any more.');

const mediaType = (header = '') => header.replace(/;.*/, '').trim().toLowerCase();

/**
 * Passes chunks on, and lets go of the memory of each when the next one is asked for: it is stored by then. The collector
 * sees how small the object is, not how much it holds, and would leave a file of them for long.
 */
async function* letGo(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk;
    // Else it is a part of what others use.
    if (chunk.byteLength === chunk.buffer.byteLength) (chunk.buffer as ArrayBuffer).transfer(0);
  }
}

async function upload(store: DiskObjectStore, judge: UploadJudge, request: Request, response: Response) {
  const grant = grantOf(store, 'PUT', request);
  if (grant?.method !== 'PUT') throw notGranted();
  const { key, contentType, maxBytes } = grant;
  const taken = async () => {
    await judge.onStored(key);
    return new ServiceError('invalid_state', 'A file was uploaded to this URL already. Ask for a new upload.');
  };
  if (mediaType(request.headers['content-type']) !== mediaType(contentType)) {
    throw new ServiceError('unsupported_media_type', `Send the file with Content-Type: ${contentType}.`);
  }
  if (await store.stat(key)) throw await taken();
  const coming = await judge.begin(key);
  if (!coming) throw notGranted();
  const full = (message = coming.message) => new ServiceError('payload_too_large', message);
  const tooLarge = () => full(`The file is larger than ${maxBytes} bytes.`);
  let isKept = false;
  try {
    const bytes = Number(request.headers['content-length'] ?? 0);
    if (bytes > maxBytes) throw tooLarge();
    if (bytes > coming.left()) throw full();
    const content = letGo(coming.counted(judge.read(request), full));
    if (!(await store.put(key, content, maxBytes))) throw await taken();
    const message = await judge.onStored(key);
    if (message !== undefined) throw full(message);
    isKept = true;
  } catch (error) {
    if (error instanceof ObjectTooLarge) throw tooLarge();
    if (request.destroyed && !request.complete) return;
    throw error;
  } finally {
    coming.leave(isKept);
  }
  response.status(200).json({ key });
}

async function download(store: DiskObjectStore, request: Request, response: Response) {
  const grant = grantOf(store, 'GET', request);
  if (grant?.method !== 'GET') throw notGranted();
  const found = await store.stat(grant.key);
  if (!found) throw new ServiceError('not_found', 'There is no such file.');
  response.set({
    'Content-Type': grant.contentType,
    'Content-Length': String(found.sizeBytes),
    'Content-Disposition': `attachment; filename="${grant.fileName}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'private, no-store',
  });
  if (request.method === 'HEAD') return void response.end();
  const content = await store.get(grant.key);
  await pipeline(content, response).catch((error: unknown) => {
    if (!response.destroyed) throw error;
  });
}

/**
 * Serves the signed URLs of a disk store under `/objects/`. What it refuses it throws as `ServiceError`. Mount it
 * before anything that reads request bodies.
 */
export function objectsRouter(store: DiskObjectStore, judge: UploadJudge): Router {
  const router = express.Router();
  router
    .route('/objects/*key')
    .put((request, response) => upload(store, judge, request, response))
    .get((request, response) => download(store, request, response))
    .all(() => {
      const headers = { Allow: 'GET, HEAD, PUT' };
      throw new ServiceError('method_not_allowed', 'This path takes GET and PUT.', { headers });
    });
  return router;
}

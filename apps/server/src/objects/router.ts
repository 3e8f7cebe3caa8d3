import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type Response, type Router } from 'express';
import { ServiceError } from '../service-error.ts';
import type { DiskObjectStore } from './disk.ts';
import { isKey, ObjectTooLarge } from './object-store.ts';
import type { Grant } from './signature.ts';

/** What decides on uploads besides their signed URLs. */
export interface UploadJudge {
  /** For how many bytes there is room, and why for no more; nothing where there is no limit. */
  roomFor(key: string): Promise<{ bytes: number; message: string } | undefined>;
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

async function upload(store: DiskObjectStore, judge: UploadJudge, request: Request, response: Response) {
  const grant = grantOf(store, 'PUT', request);
  if (grant?.method !== 'PUT') throw notGranted();
  const { key, contentType } = grant;
  const taken = async () => {
    await judge.onStored(key);
    return new ServiceError('invalid_state', 'A file was uploaded to this URL already. Ask for a new upload.');
  };
  if (mediaType(request.headers['content-type']) !== mediaType(contentType)) {
    throw new ServiceError('unsupported_media_type', `Send the file with Content-Type: ${contentType}.`);
  }
  if (await store.stat(key)) throw await taken();
  const room = await judge.roomFor(key);
  const maxBytes = Math.min(grant.maxBytes, room?.bytes ?? grant.maxBytes);
  const over = maxBytes < grant.maxBytes ? room!.message : `The file is larger than ${maxBytes} bytes.`;
  const tooLarge = (message = over) => new ServiceError('payload_too_large', message);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  try {
    if (!(await store.put(key, judge.read(request), maxBytes))) throw await taken();
  } catch (error) {
    if (error instanceof ObjectTooLarge) throw tooLarge();
    if (request.destroyed && !request.complete) return;
    throw error;
  }
  const full = await judge.onStored(key);
  if (full !== undefined) throw tooLarge(full);
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

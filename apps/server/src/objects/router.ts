import { pipeline } from 'node:stream/promises';
import express, { type Request, type Response, type Router } from 'express';
import type { ErrorCode } from '../service-error.ts';
import type { DiskObjectStore } from './disk.ts';
import { isKey, ObjectTooLarge } from './object-store.ts';
import type { Grant } from './signature.ts';

/** Told of every complete upload, before its PUT is answered; must be safe to run twice for a key. */
export type OnStored = (key: string) => Promise<void>;

const fail = (response: Response, status: number, code: ErrorCode, error: string) =>
  void response.status(status).json({ code, error });

/** What the request's signed URL allows. Without a right signature nobody learns whether there is an object. */
function grantOf(store: DiskObjectStore, method: 'PUT' | 'GET', request: Request): Grant | undefined {
  const url = new URL(request.originalUrl, 'http://server');
  const key = url.pathname.replace(/^.*?\/objects\//, '');
  return isKey(key) ? store.grantOf(method, key, url.searchParams) : undefined;
}

const refuse = (response: Response) =>
  fail(response, 403, 'forbidden', 'This URL is not valid, or not valid any more.');

const mediaType = (header = '') => header.replace(/;.*/, '').trim().toLowerCase();

async function upload(store: DiskObjectStore, onStored: OnStored, request: Request, response: Response) {
  const grant = grantOf(store, 'PUT', request);
  if (grant?.method !== 'PUT') return refuse(response);
  const { key, maxBytes, contentType } = grant;
  const tooLarge = () => fail(response, 413, 'payload_too_large', `The file is larger than ${maxBytes} bytes.`);
  const taken = async () => {
    await onStored(key);
    fail(response, 409, 'invalid_state', 'A file was uploaded to this URL already. Ask for a new upload.');
  };
  if (mediaType(request.headers['content-type']) !== mediaType(contentType)) {
    return fail(response, 415, 'unsupported_media_type', `Send the file with Content-Type: ${contentType}.`);
  }
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return tooLarge();
  if (await store.stat(key)) return taken();
  try {
    const content = request.iterator({ destroyOnReturn: false });
    if (!(await store.put(key, content, maxBytes))) return await taken();
  } catch (error) {
    if (error instanceof ObjectTooLarge) return tooLarge();
    if (request.destroyed && !request.complete) return;
    throw error;
  }
  await onStored(key);
  response.status(200).json({ key });
}

async function download(store: DiskObjectStore, request: Request, response: Response) {
  const grant = grantOf(store, 'GET', request);
  if (grant?.method !== 'GET') return refuse(response);
  const found = await store.stat(grant.key);
  if (!found) return fail(response, 404, 'not_found', 'There is no such file.');
  response.set({
    'Content-Type': grant.contentType,
    'Content-Length': String(found.sizeBytes),
    'Content-Disposition': `attachment; filename="${grant.fileName}"`,
    'X-Content-Type-Options': 'nosniff',
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
 * Serves the signed URLs of a disk store under `/objects/`. Errors are the contract's `{code, error}`. Mount it before
 * anything that reads request bodies.
 */
export function objectsRouter(store: DiskObjectStore, onStored: OnStored): Router {
  const router = express.Router();
  router
    .route('/objects/*key')
    .put((request, response) => upload(store, onStored, request, response))
    .get((request, response) => download(store, request, response))
    .all((_, response) => {
      response.set('Allow', 'GET, HEAD, PUT');
      fail(response, 405, 'method_not_allowed', 'This path takes GET and PUT.');
    });
  return router;
}

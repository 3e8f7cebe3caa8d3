import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { ServiceError } from '../values/service-error.ts';
import type { FilePart } from './handler.ts';
import { refuseEncoding } from './request-body.ts';
import { faultAt } from './request-fault.ts';
import { watchFiles } from './slow-files.ts';

/** A part's headers, and the parts themselves: more than anyone needs. */
const LIMITS = { headerPairs: 20, headerSize: 16 * 1024, fields: 1, fieldSize: 1024, parts: 100 };

const malformed = () =>
  new ServiceError('invalid_request', 'The request body is not valid multipart/form-data.', {
    details: [{ path: '/body', message: 'must be valid multipart/form-data' }],
  });

const brokeOff = () => new ServiceError('invalid_request', 'The request body broke off.');

const notAFile = (name: string) => faultAt(`/body/${name.slice(0, 100)}`, 'must be a file: a part with a file name');

/**
 * The files of a body in `multipart/form-data`, one after another, read while they are asked for and never held whole.
 * What is left unread is let through, so that the client sees the answer. Throws `invalid_request` for what is not such
 * a body, for a part that is no file, and where the body breaks off, and `request_timeout` where it comes too slowly;
 * reading a file then throws the same.
 */
export async function* filesOf(request: IncomingMessage): AsyncGenerator<FilePart> {
  refuseEncoding(request);
  if (request.destroyed && !request.complete) throw brokeOff();
  const parser = openParser(request);
  const contents: Readable[] = [];
  const arrived: FilePart[] = [];
  let failure: ServiceError | undefined;
  let ended = false;
  let wake = () => {};
  const fail = (error: ServiceError) => {
    failure ??= error;
    for (const content of contents) content.destroy(failure);
    wake();
  };
  parser.on('file', (name, content, fileName) => {
    content.on('error', () => undefined);
    contents.push(content);
    arrived.push({ name: name ?? '', fileName, content: readable(content, () => failure ?? malformed()) });
    wake();
  });
  parser.on('field', (name) => fail(notAFile(name ?? '')));
  parser.on('partsLimit', () => fail(malformed()));
  parser.on('error', () => fail(malformed()));
  parser.on('finish', () => {
    ended = true;
    wake();
  });
  request.on('error', () => fail(brokeOff()));
  request.on('close', () => !request.complete && fail(brokeOff()));
  const stop = watchFiles(request, fail);
  request.pipe(parser);
  try {
    for (;;) {
      const file = arrived.shift();
      if (failure) throw failure;
      if (file) yield file;
      else if (ended) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    stop();
    request.unpipe(parser);
    request.resume();
    for (const content of contents) content.destroy();
  }
}

/** What goes wrong while a file is read, in our words. */
async function* readable(content: Readable, failure: () => ServiceError): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch {
    throw failure();
  }
}

function openParser(request: IncomingMessage): BusboyInstance {
  try {
    const headers = { 'content-type': String(request.headers['content-type']) };
    return new Busboy({ headers, limits: LIMITS, preservePath: true });
  } catch {
    throw malformed();
  }
}

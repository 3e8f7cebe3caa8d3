import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../values/service-error.ts';
import type { BodyRoom, RoomTaker } from './body-room.ts';
import { watchBodies } from './slow-bodies.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes as people write them: `2 MiB`. */
const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

const tooLarge = (limit: number) =>
  new ServiceError('payload_too_large', `The request body is larger than ${mebibytes(limit)}.`);

const tooSlow = () =>
  new ServiceError('request_timeout', 'The request body did not come in time: send it within 30 seconds.');

/** Whether a request brings a body at all. */
export const hasBody = (request: IncomingMessage): boolean =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;

/** Whether some of a request's body has not come yet. */
export const isComing = (request: IncomingMessage): boolean => !request.complete && hasBody(request);

/** Throws `unsupported_media_type` for a compressed body. */
export function refuseEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new ServiceError('unsupported_media_type', 'Send the body without a Content-Encoding.');
}

/** Reads bodies. */
export interface BodyReader {
  /**
   * Reads a body of at most `limit` bytes, for whose room `taker` then stands, and parses it. Throws `payload_too_large`,
   * `unsupported_media_type` for a compressed body, `request_timeout` for one that comes too slowly, `unavailable` where
   * there is no room for it, and `invalid_request` for what is not JSON in UTF-8.
   *
   * @param parse is given the text, and throws a `ServiceError` for what it refuses, any other error for what is no JSON
   */
  read<Parsed>(
    request: IncomingMessage,
    limit: number,
    taker: RoomTaker,
    parse: (text: string, bytes: Uint8Array) => Parsed | Promise<Parsed>,
  ): Promise<Parsed>;
}

/** One for all requests of a process: they share its memory. */
export function createBodyReader(room: BodyRoom): BodyReader {
  const watch = watchBodies();

  function readBytes(request: IncomingMessage, limit: number, taker: RoomTaker): Promise<Buffer> {
    const { 'content-length': told } = request.headers;
    if (told !== undefined) room.take(taker, Number(told));
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const giveUp = (error: unknown) => {
        watch.remove(body);
        chunks.length = 0;
        request.removeAllListeners('data');
        reject(error);
      };
      const body = { seconds: 0, bytes: 0, onTooSlow: () => giveUp(tooSlow()) };
      watch.add(body);
      request.on('data', (chunk: Buffer) => {
        body.bytes += chunk.length;
        if (body.bytes > limit) return giveUp(tooLarge(limit));
        chunks.push(chunk);
        if (told !== undefined) return;
        try {
          room.take(taker, chunk.length);
        } catch (error) {
          giveUp(error);
        }
      });
      request.once('end', () => {
        watch.remove(body);
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
      });
      request.once('error', () => giveUp(new ServiceError('invalid_request', 'The request body broke off.')));
    });
  }

  return {
    async read(request, limit, taker, parse) {
      refuseEncoding(request);
      if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
      const bytes = await readBytes(request, limit, taker);
      try {
        return await parse(utf8.decode(bytes), bytes);
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        throw new ServiceError('invalid_request', 'The request body is not valid JSON in UTF-8.', {
          details: [{ path: '/body', message: 'must be valid JSON in UTF-8' }],
        });
      }
    },
  };
}

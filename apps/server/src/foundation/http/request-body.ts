import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../values/service-error.ts';
import type { BodyRoom, RoomTaker } from './body-room.ts';
import { createLoopShare } from './loop-share.ts';
import { watchBodies } from './slow-bodies.ts';

/** Bytes from which on a body is read and parsed in turns: what is smaller takes JSON.parse a few milliseconds at most. */
export const LARGE = 65_536;

/** Of a large body so many bytes are checked before more is read, and then each time so many times as many. */
const [FIRST_CHECK, TIMES_AS_MANY] = [LARGE, 4];

/** So many bytes are read in a turn of the event loop, and about so many in a millisecond of it. */
const [BYTES_A_TURN, BYTES_A_MS] = [4 * LARGE, 8 * LARGE];

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** The text of a small body. Throws for what is no UTF-8. */
export const textOf = (bytes: Uint8Array): string => utf8.decode(bytes);

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
   * @param parse is given the bytes, and throws a `ServiceError` for what it refuses, any other error for what is no JSON
   * @param check is given what has come of a large body, and throws the same: the rest is not read then
   */
  read<Parsed>(
    request: IncomingMessage,
    limit: number,
    taker: RoomTaker,
    parse: (bytes: Uint8Array) => Parsed | Promise<Parsed>,
    check?: ((bytes: Uint8Array) => Promise<void>) | undefined,
  ): Promise<Parsed>;
}

/** One for all requests of a process: they share its memory. */
export function createBodyReader(room: BodyRoom, share = createLoopShare()): BodyReader {
  const watch = watchBodies();

  function readBytes(
    request: IncomingMessage,
    limit: number,
    taker: RoomTaker,
    check: ((bytes: Uint8Array) => Promise<void>) | undefined,
  ): Promise<Uint8Array> {
    const { 'content-length': told } = request.headers;
    if (told !== undefined) room.take(taker, Number(told));
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      let inThisTurn = 0;
      let nextCheck = FIRST_CHECK;
      const giveUp = (error: unknown) => {
        watch.remove(body);
        request.removeAllListeners('data');
        reject(error);
      };
      const body = { seconds: 0, bytes: 0, isWaitedFor: () => !request.isPaused(), onTooSlow: () => giveUp(tooSlow()) };
      watch.add(body);
      const take = (chunk: Buffer) => {
        body.bytes += chunk.length;
        if (body.bytes > limit) throw tooLarge(limit);
        if (told === undefined) room.take(taker, chunk.length);
        chunks.push(chunk);
        inThisTurn += chunk.length;
        const isDue = check !== undefined && body.bytes > nextCheck && body.bytes < Number(told ?? limit);
        if (inThisTurn < BYTES_A_TURN && !isDue) return;
        // The socket would be read until nothing is left, however many megabytes that are, before others have a turn.
        request.pause();
        void rest(isDue).then(() => request.resume(), giveUp);
      };
      const rest = async (isDue: boolean) => {
        const turn = share(taker.workspaceId, inThisTurn / BYTES_A_MS);
        inThisTurn = 0;
        await turn;
        if (!isDue) return;
        nextCheck = body.bytes * TIMES_AS_MANY;
        chunks = [Buffer.concat(chunks)];
        await check?.(chunks[0]!);
      };
      request.on('data', (chunk: Buffer) => {
        try {
          take(chunk);
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
    async read(request, limit, taker, parse, check) {
      refuseEncoding(request);
      if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
      try {
        return await parse(await readBytes(request, limit, taker, check));
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        throw new ServiceError('invalid_request', 'The request body is not valid JSON in UTF-8.', {
          details: [{ path: '/body', message: 'must be valid JSON in UTF-8' }],
        });
      }
    },
  };
}

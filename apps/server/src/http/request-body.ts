import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../service-error.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes as people write them: `2 MiB`. */
const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

const tooLarge = (limit: number) =>
  new ServiceError('payload_too_large', `The request body is larger than ${mebibytes(limit)}.`);

/** Whether a request brings a body at all. */
export const hasBody = (request: IncomingMessage): boolean =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;

/** Throws `unsupported_media_type` for a compressed body. */
export function refuseEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new ServiceError('unsupported_media_type', 'Send the body without a Content-Encoding.');
}

/**
 * Reads a JSON body of at most `limit` bytes. Throws `payload_too_large`, `unsupported_media_type` for a compressed
 * body, and `invalid_request` for what is not JSON in UTF-8.
 *
 * @param parse other than as JSON is parsed; it throws a `ServiceError` for what it refuses
 */
export async function readJson(request: IncomingMessage, limit: number, parse = JSON.parse): Promise<unknown> {
  refuseEncoding(request);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  const bytes = await readBytes(request, limit);
  try {
    return parse(utf8.decode(bytes));
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('invalid_request', 'The request body is not valid JSON in UTF-8.', {
      details: [{ path: '/body', message: 'must be valid JSON in UTF-8' }],
    });
  }
}

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) {
        chunks.push(chunk);
        return;
      }
      // The rest is let through unread: a client that is still sending would not see the answer otherwise.
      request.removeAllListeners('data').resume();
      reject(tooLarge(limit));
    });
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.once('error', () => reject(new ServiceError('invalid_request', 'The request body broke off.')));
  });
}

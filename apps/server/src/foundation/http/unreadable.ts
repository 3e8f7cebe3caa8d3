import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '../values/service-error.ts';
import { errorAnswer } from './errors.ts';
import { baseHeaders } from './exchange.ts';

/**
 * Answers what Node could not read as a request, or not in time, in the form of all errors, and closes the connection.
 * For the event `clientError` of a server.
 */
export function answerUnreadable(error: NodeJS.ErrnoException, connection: NodeJS.WritableStream): void {
  const socket = connection as Socket & { _httpMessage?: ServerResponse };
  // Node looks at the same, which it shows by no other name: what has begun can't be answered a second time.
  if (!socket.writable || socket._httpMessage?.headersSent) return void socket.destroy();
  const { status, refusal } = refusalOf(error.code);
  const base = baseHeaders();
  const body = JSON.stringify(errorAnswer(refusal, base['X-Request-Id']).body);
  const headers = {
    ...base,
    Connection: 'close',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  socket.destroySoon();
}

/** The statuses are those that Node would answer with. */
function refusalOf(code: string | undefined): { status: number; refusal: ServiceError } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, refusal: new ServiceError('request_timeout', 'The request did not come in time.') };
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: 431, refusal: new ServiceError('invalid_request', 'The headers are larger than 16 KiB.') };
  return { status: 400, refusal: new ServiceError('invalid_request', 'The request is not valid HTTP.') };
}

import { connect } from 'node:net';
import fc from 'fast-check';
import type { FuzzRequest } from './requests.ts';
import type { Answered } from './send.ts';

/** What happens to a request on its way: to its first line, between its lines, to one byte, or that it breaks off. */
export interface Harm {
  kind: 'first' | 'line' | 'byte' | 'cut';
  at: number;
  text: string;
}

const firstLines = fc.constantFrom(
  ...[
    'GET /v1/calls',
    'GET  /v1/calls HTTP/1.1',
    'GET /v1/calls HTTP/9.9',
    'get /v1/calls HTTP/1.1',
    'PRI * HTTP/2.0',
    '',
  ],
  ...['GET /v1/calls HTTP/1.0', 'GET * HTTP/1.1', 'OPTIONS * HTTP/1.1', 'GET http://a.invalid/v1/calls HTTP/1.1', '\0'],
  ...[
    'CONNECT a.invalid:80 HTTP/1.1',
    'GET /v1/\xff HTTP/1.1',
    'GET /v1/a\0b HTTP/1.1',
    'GET //v1//calls HTTP/1.1',
    '{}',
  ],
  ...[
    'GET /v1/calls?%ff=\xff HTTP/1.1',
    `GET /${'a'.repeat(20_000)} HTTP/1.1`,
    'GET /v1/../v1/calls HTTP/1.1',
    'GET v1 HTTP/1.1',
  ],
  ...[
    'GET /objects/../../etc/passwd HTTP/1.1',
    'PUT /objects/%00 HTTP/1.1',
    'GET /docs/%2e%2e/ HTTP/1.1',
    'GET /docs/%ff HTTP/1.1',
  ],
  ...[
    'HEAD /v1/calls HTTP/1.1',
    'GET /metrics?x HTTP/1.1',
    'GET /readyz/ HTTP/1.1',
    'GET #a HTTP/1.1',
    'GET /v1/calls#a HTTP/1.1',
  ],
);
const lines = fc.constantFrom(
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'Content-Length: 0',
    'Content-Length: 1',
    'Content-Length: -1',
  ],
  ...[
    'Content-Length: 99999999999999999999',
    'Content-Length: 1, 1',
    'Content-Length: x',
    ' folded',
    ': x',
    'no colon',
    'A\0: b',
  ],
  ...[
    'A: \x01',
    'A : b',
    'Host: a',
    'Host:',
    `A: ${'b'.repeat(20_000)}`,
    'A: b\nC: d',
    'Expect: 100-continue',
    'TE: trailers',
    '\xff: \xff',
  ],
  ...[
    'Trailer: X-API-Key',
    'Connection: keep-alive, close',
    'Upgrade: h2c',
    'HTTP2-Settings: x',
    'X-API-Key: x',
    '__proto__: x',
    '',
    '\r',
  ],
  ...[
    `${'A: b\r\n'.repeat(3000)}A: b`,
    'Keep-Alive: timeout=-1',
    'Content-Type: a\tb',
    'X-Request-Id: \xff',
    'Idempotency-Key: \xff\xfe',
  ],
);

/** A request now and then arrives as nothing that a client of HTTP would send. */
export const harms: fc.Arbitrary<Harm> = fc.oneof(
  fc.record({ kind: fc.constant('first' as const), at: fc.constant(0), text: firstLines }),
  fc.record({ kind: fc.constant('line' as const), at: fc.nat({ max: 5 }), text: lines }),
  fc.record({
    kind: fc.constant('byte' as const),
    at: fc.nat({ max: 400 }),
    text: fc.constantFrom('\0', '\n', '\xff', ' '),
  }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat({ max: 400 }), text: fc.constant('') }),
);

/** The bytes of a request after its harm, each as a character. */
export function harmed(
  { method, path, headers, body = '', isBinary }: FuzzRequest,
  harm: Harm,
  apiKey: string,
): string {
  const bytes = isBinary ? body : Buffer.from(body).toString('latin1');
  const own = Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`));
  const all = [
    `${method} ${path} HTTP/1.1`,
    'Host: a',
    `X-API-Key: ${apiKey}`,
    `Content-Length: ${bytes.length}`,
    ...own,
  ];
  if (harm.kind === 'first') all[0] = harm.text;
  if (harm.kind === 'line') all.splice(1 + (harm.at % all.length), 0, harm.text);
  const text = `${[...all, 'Connection: close'].join('\r\n')}\r\n\r\n${bytes}`;
  const at = harm.at % text.length;
  if (harm.kind === 'byte') return text.slice(0, at) + harm.text + text.slice(at + 1);
  return harm.kind === 'cut' ? text.slice(0, at) : text;
}

/** Sends bytes over a connection of their own, and says what was answered until it was closed: it may be nothing. */
export async function sendBytes(baseUrl: string, bytes: string, patienceMs: number): Promise<Answered[]> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port), timeout: patienceMs, allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('timeout', () => socket.destroy(new Error('The connection was never closed.')));
  socket.end(Buffer.from(bytes, 'latin1'));
  try {
    for await (const chunk of socket) {
      chunks.push(chunk as Buffer);
      if ((chunk as Buffer).includes('text/event-stream')) break;
    }
  } catch (error) {
    // What is not read to its end is cut off together with the answer.
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET' && (error as NodeJS.ErrnoException).code !== 'EPIPE')
      throw error;
  } finally {
    socket.destroy();
  }
  return answersIn(Buffer.concat(chunks).toString('latin1'));
}

function answersIn(text: string): Answered[] {
  const [, status, head] = /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n(.*?\r\n)\r\n/s.exec(text) ?? [];
  if (!status || head === undefined) return [];
  const field = (name: string) => new RegExp(`^${name}: (.*?)\r$`, 'im').exec(head)?.[1];
  const begin = text.indexOf('\r\n\r\n') + 4;
  const length = Number(field('content-length') ?? 0);
  const body = Buffer.from(text.slice(begin, begin + length), 'latin1').toString();
  const answer = {
    status: Number(status),
    type: field('content-type') ?? '',
    requestId: field('x-request-id'),
    text: body,
  };
  const others = answersIn(text.slice(begin + length));
  return answer.status === 100 ? others : [answer, ...others];
}

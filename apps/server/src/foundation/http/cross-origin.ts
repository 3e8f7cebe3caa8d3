import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Exchange } from './exchange.ts';

/** What scripts of other origins may send and read, besides what every one may. */
const SENT = [
  ...['X-API-Key', 'Content-Type', 'Idempotency-Key', 'Concurrency-Key', 'Cooldown-Minutes', 'Last-Event-ID'],
  ...['X-Client-Request-Id', 'X-Request-Id', 'X-Retry-Count', 'If-Match'],
].join(', ');
const READ = [
  ...['X-Request-Id', 'X-Client-Request-Id', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'x-should-retry'],
  ...['Idempotent-Replayed', 'Content-Disposition', 'ETag'],
].join(', ');
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** Browsers remember a preflight for two hours at most, and for so long, in seconds, what a change of the setting means. */
const REMEMBERED = '600';

/**
 * Lets scripts of these origins, exactly as browsers name them, use what a listener answers (the CORS protocol of the
 * Fetch standard). No credentials: keys go in a header, not in cookies. Without origins nothing is said at all.
 */
export function allowOrigins(origins: readonly string[], listener: RequestListener): RequestListener {
  if (origins.length === 0) return listener;
  const allowed = new Set(origins);
  return (request, response) => {
    // Also where the origin is none of them, so that no cache gives the answer for one to another.
    response.setHeader('Vary', 'Origin');
    const { origin } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return listener(request, response);
    response.setHeader('Access-Control-Allow-Origin', origin);
    if (isPreflight(request)) return answerPreflight(request, response);
    response.setHeader('Access-Control-Expose-Headers', READ);
    return listener(request, response);
  };
}

const isPreflight = ({ method, headers }: IncomingMessage) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, {
    ...new Exchange(request, response).headers,
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': SENT,
    'Access-Control-Max-Age': REMEMBERED,
  });
  response.end();
}

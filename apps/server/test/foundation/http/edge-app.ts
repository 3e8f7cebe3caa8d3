import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { type AppOptions, createApp, loadContract } from '../../../src/foundation/http/app.ts';
import type { ContractDocument } from '../../../src/foundation/http/contract.ts';
import { KEEP_ALIVE_MS } from '../../../src/foundation/http/listen.ts';
import { createMetrics } from '../../../src/foundation/http/metrics.ts';
import { createOpenStreams } from '../../../src/foundation/http/open-streams.ts';

/** A key that the edge of these tests takes, with every permission. */
export const KEY = 'tl_test_00000000000000000000';

/** The edge alone on a port: no database, handlers as given, `KEY` with the permissions given (all by default). */
export async function startEdge(
  options: Partial<Omit<AppOptions, 'handlers' | 'contract'>> & {
    handlers?: Record<string, unknown>;
    contract?: unknown;
    permissions?: string[];
  } = {},
) {
  const logged: Record<string, unknown>[] = [];
  const metrics = createMetrics();
  const principal = { keyId: 'key', hash: 'hash', workspaceId: 'workspace', permissions: options.permissions ?? ['*'] };
  const app = await createApp({
    authenticate: (key) => (key === KEY ? principal : undefined),
    authenticateSession: () => undefined,
    authenticateOperator: (key) => (key === KEY ? { ...principal, permissions: ['operator'] } : undefined),
    openStream: () => undefined,
    publicUrl: 'http://localhost',
    corsOrigins: [],
    rateLimit: () => 0,
    streams: createOpenStreams(metrics.registry),
    metrics,
    log: pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    validateResponses: 'throw',
    trustProxy: false,
    draining: new AbortController().signal,
    notReady: async () => undefined,
    warnings: async () => [],
    ...options,
    contract: (options.contract ?? loadContract()) as ContractDocument,
    handlers: (options.handlers ?? {}) as AppOptions['handlers'],
  });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    logged,
    metrics,
    /** Sends a request, with `KEY` unless told otherwise; an object as a body goes as JSON. */
    async send(method: string, path: string, request: { body?: unknown; headers?: Record<string, string> } = {}) {
      const { body, headers } = request;
      const raw = typeof body === 'string' || body === undefined || body instanceof Uint8Array;
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        headers: {
          'X-API-Key': KEY,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
      const headersOf = { get: (name: string) => response.headers.get(name) };
      return { status: response.status, headers: headersOf, text, body: isJson ? JSON.parse(text) : undefined };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

/** A small contract of one path with one operation, where the real one has nothing of the kind. */
export function contractOf(operation: object, { method = 'post', path = '/v1/things', components = {} } = {}): unknown {
  const error = { description: 'An error.', content: { 'application/json': { schema: { type: 'object' } } } };
  const failures = Object.fromEntries([400, 401, 403, 413, 415, 429, 500].map((status) => [String(status), error]));
  const { responses, ...rest } = operation as { responses?: object };
  return {
    openapi: '3.1.1',
    info: { title: 'Test', version: '1' },
    servers: [{ url: '/' }],
    paths: {
      [path]: {
        [method]: {
          operationId: 'act',
          'x-permission': 'authenticated',
          ...rest,
          responses: { ...failures, ...(responses ?? { 200: jsonOf({ type: 'object' }) }) },
        },
      },
    },
    components,
  };
}

/** A response or a request body of JSON by this schema. */
export const jsonOf = (schema: object) => ({
  description: 'JSON.',
  required: true,
  content: { 'application/json': { schema } },
});

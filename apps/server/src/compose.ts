import type { RequestListener } from 'node:http';
import type { Router } from 'express';
import type { Logger } from 'pino';
import { createKeyRing } from './api-keys/key-ring.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './database/database.ts';
import { createApp, loadContract } from './http/app.ts';
import type { Handlers, OperationId } from './http/handler.ts';
import { createMetrics } from './http/metrics.ts';
import type { BuiltOperationId } from './http/not-implemented.ts';
import type { NotReady } from './http/outside.ts';
import { createRateLimit } from './http/rate-limit.ts';

/** What tests put in place of the server's own. */
export interface Overrides {
  handlers?: Partial<Handlers>;
  validateResponses?: 'throw' | 'log';
  onAnswer?: (operationId: OperationId, status: number) => void;
}

export interface Parts {
  config: Config;
  database: Database;
  clock: Clock;
  log: Logger;
  /** Where clients reach this server, for links. */
  publicUrl: string;
  draining: AbortSignal;
  notReady: NotReady;
  overrides: Overrides;
}

/** A server put together: its HTTP side, and its loops, which `start` starts and `stop` ends with their leases given back. */
export interface Composition {
  app: RequestListener;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Builds everything, by hand: the only place that knows which adapter serves which port. */
export async function compose(parts: Parts): Promise<Composition> {
  const { config, database, clock, log, overrides } = parts;
  const metrics = createMetrics();
  const keyRing = createKeyRing({ database, clock, log });

  const handlers: Handlers<BuiltOperationId> = {};
  const outside: { path: string; router: Router }[] = [];

  const app = await createApp({
    contract: loadContract(),
    handlers: { ...handlers, ...overrides.handlers },
    authenticate: keyRing.authenticate,
    rateLimit: createRateLimit(config.rateLimitPerMinute),
    metrics,
    log,
    validateResponses: overrides.validateResponses ?? 'log',
    trustProxy: config.trustProxy,
    draining: parts.draining,
    notReady: parts.notReady,
    outside,
    ...(overrides.onAnswer && { onAnswer: overrides.onAnswer }),
  });

  return {
    app,
    start: async () => undefined,
    stop: () => keyRing.close(),
  };
}

import { createHmac } from 'node:crypto';
import type { RequestListener } from 'node:http';
import path from 'node:path';
import type { Router } from 'express';
import type { Logger } from 'pino';
import { createKeyRing } from './api-keys/key-ring.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { acceptFile } from './contact-lists/accept-file.ts';
import { startContactListWork } from './contact-lists/background.ts';
import { contactListOperations } from './contact-lists/operations.ts';
import type { Database } from './database/database.ts';
import { openNotifications } from './database/notifications.ts';
import { loadEncryptionKey } from './database/secrets.ts';
import { createApp, loadContract } from './http/app.ts';
import type { Handlers, OperationId } from './http/handler.ts';
import { createMetrics } from './http/metrics.ts';
import type { BuiltOperationId } from './http/not-implemented.ts';
import type { NotReady } from './http/outside.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { every } from './jobs/every.ts';
import { openJobs } from './jobs/jobs.ts';
import { deleteOldEvents } from './journal/retention.ts';
import { type DiskObjectStore, openDiskObjectStore } from './objects/disk.ts';
import type { ObjectStore } from './objects/object-store.ts';
import { objectsRouter } from './objects/router.ts';
import { openS3ObjectStore } from './objects/s3.ts';

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
  /** @param requestsEnded resolves when no request is under way any more */
  stop(requestsEnded: Promise<unknown>): Promise<void>;
}

/** Builds everything, by hand: the only place that knows which adapter serves which port. */
export async function compose(parts: Parts): Promise<Composition> {
  const { config, database, clock, log, overrides } = parts;
  const metrics = createMetrics();
  const keyRing = createKeyRing({ database, clock, log });

  const notifications = openNotifications({ connection: database.connection, log });
  const jobs = await openJobs({ connection: database.connection, log });
  const objects = await openObjects(parts);

  const limits = {
    maxRows: config.uploadMaxRows,
    maxBytes: config.uploadMaxBytes,
    maxColumns: config.uploadMaxColumns,
    maxRowLength: config.uploadMaxRowBytes,
  };
  const contactLists = { database, notifications, jobs, objects, clock, log, limits };

  const handlers: Handlers<BuiltOperationId> = { ...contactListOperations(contactLists) };
  const outside: { path: string; router: Router }[] = [];
  if ('grantOf' in objects) {
    outside.push({ path: '/', router: objectsRouter(objects, (key) => acceptFile(contactLists, key)) });
  }
  let loops: { close(): Promise<void> }[] = [];

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
    start: async () => {
      loops = [
        await startContactListWork(contactLists),
        every(RETENTION_MS, () => deleteOldEvents(database, clock.now()), { name: 'event retention', log }),
      ];
    },
    stop: async (requestsEnded) => {
      await Promise.all([...loops.map((loop) => loop.close()), jobs.quit(), requestsEnded]);
      await Promise.all([jobs.close(), notifications.close(), keyRing.close()]);
    },
  };
}

const RETENTION_MS = 600_000;

/** S3 where a bucket is configured, else a folder of the data directory. */
async function openObjects({ config, clock, publicUrl }: Parts): Promise<ObjectStore | DiskObjectStore> {
  const { s3Bucket: bucket, s3Region: region, s3Endpoint: endpoint } = config;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if (bucket) {
    const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
    return openS3ObjectStore({ bucket, region, endpoint, credentials });
  }
  const key = await loadEncryptionKey({ configured: config.encryptionKey, dataDir: config.dataDir });
  return openDiskObjectStore({
    directory: path.join(config.dataDir, 'objects'),
    secret: createHmac('sha256', key).update('signed object URLs').digest('hex'),
    baseUrl: () => publicUrl,
    clock,
  });
}

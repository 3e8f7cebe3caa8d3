import { createHmac } from 'node:crypto';
import type { RequestListener } from 'node:http';
import path from 'node:path';
import type { Router } from 'express';
import type { Logger } from 'pino';
import { type AgentDirectory, anyAgent } from './agents/directory.ts';
import { fileAgents } from './agents/file.ts';
import { httpAgents } from './agents/http.ts';
import { createKeyRing } from './api-keys/key-ring.ts';
import { apiKeyOperations } from './api-keys/operations.ts';
import { batchOperations } from './batches/operations.ts';
import { recordCompletion } from './batches/record-batch.ts';
import { callOperations } from './calls/operations.ts';
import { receiveCalls } from './calls/receive-calls.ts';
import { countConversions } from './campaigns/count-conversions.ts';
import { createDialer } from './campaigns/dialer.ts';
import { forgetWindows } from './campaigns/lanes.ts';
import { campaignOperations } from './campaigns/operations.ts';
import { recordEngineMove } from './campaigns/record-campaign.ts';
import { startDueCampaign } from './campaigns/start-campaign.ts';
import type { Clock } from './clock.ts';
import { type Config, ConfigError } from './config.ts';
import { acceptFile } from './contact-lists/accept-file.ts';
import { startContactListWork } from './contact-lists/background.ts';
import { contactListOperations } from './contact-lists/operations.ts';
import type { Database } from './database/database.ts';
import { deleteOldIdempotencyKeys } from './database/idempotency-keys.ts';
import { openLease } from './database/lease.ts';
import { registerDatabaseMetrics } from './database/metrics.ts';
import { openNotifications } from './database/notifications.ts';
import { createSecrets, loadEncryptionKey } from './database/secrets.ts';
import { doNotCallOperations } from './do-not-call/operations.ts';
import { type AppOptions, createApp, loadContract } from './http/app.ts';
import type { Handlers, OperationId } from './http/handler.ts';
import { createMetrics } from './http/metrics.ts';
import type { NotReady } from './http/outside.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { every } from './jobs/every.ts';
import { openJobs } from './jobs/jobs.ts';
import { auditLogOperations } from './journal/operations.ts';
import { deleteOldEvents } from './journal/retention.ts';
import { startKnowledgeBaseWork } from './knowledge-bases/background.ts';
import { knowledgeBaseOperations } from './knowledge-bases/operations.ts';
import { leavePool } from './number-pools/leave-pool.ts';
import { numberPoolOperations } from './number-pools/operations.ts';
import { type DiskObjectStore, openDiskObjectStore } from './objects/disk.ts';
import type { ObjectStore } from './objects/object-store.ts';
import { objectsRouter } from './objects/router.ts';
import { openS3ObjectStore } from './objects/s3.ts';
import { createAddressGuard } from './outbound-http/address-guard.ts';
import { createOutboundHttp } from './outbound-http/guarded-request.ts';
import { phoneNumberOperations } from './phone-numbers/operations.ts';
import { startPhoneNumberTasks } from './phone-numbers/tasks.ts';
import type { TelephonyGateway } from './telephony/gateway.ts';
import { createSimulator } from './telephony/simulator/simulator.ts';
import { postgresStore } from './telephony/simulator/store.ts';
import type { SimulatorTime } from './telephony/simulator/time.ts';
import { askInboundWebhook } from './webhooks/ask-inbound-webhook.ts';
import { registerWebhookMetrics } from './webhooks/metrics.ts';
import { webhookOperations } from './webhooks/operations.ts';
import { eraseOldDeliveries } from './webhooks/retention.ts';
import { startWebhookSender } from './webhooks/sender.ts';
import { workflowOperations } from './workflows/operations.ts';
import { runOperations } from './workflows/run-operations.ts';
import { createFlows } from './workflows/runs/flows.ts';
import { createRunEngine } from './workflows/runs/run-engine.ts';
import { createRunStarter } from './workflows/runs/run-starter.ts';
import { runCallOwner } from './workflows/runs/signal-runs.ts';
import { workspaceOperations } from './workspace/operations.ts';

/** What tests put in place of the server's own. */
export interface Overrides {
  handlers?: Partial<Handlers>;
  validateResponses?: AppOptions['validateResponses'];
  onAnswer?: (operationId: OperationId, status: number) => void;
  simulatorTime?: SimulatorTime;
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
  // Before anything that would be left running: these fail where a setting is wrong.
  const encryptionKey = await loadEncryptionKey({ configured: config.encryptionKey, dataDir: config.dataDir });
  const secrets = createSecrets(encryptionKey);
  const objects = await openObjects(parts, encryptionKey);
  const agents = await openAgents(parts);
  const metrics = createMetrics();
  registerDatabaseMetrics(metrics.registry, database);
  const keyRing = createKeyRing({ database, clock, log });

  const notifications = openNotifications({ connection: database.connection, log });
  database.onTold(notifications.notify);
  const jobs = await openJobs({ connection: database.connection, log });
  const simulator = createSimulator({
    seed: String(config.simulatorSeed),
    speed: config.simulatorSpeed,
    store: postgresStore(database),
    ...(overrides.simulatorTime && { time: overrides.simulatorTime }),
  });
  // Until the SIP adapter is there, the simulator also takes the calls of imported numbers.
  const gateways = new Map<string, TelephonyGateway>([
    ['simulator', simulator],
    ['sip', simulator],
  ]);
  const lease = await openLease({ database, seconds: config.leaseSeconds, log });
  const dialer = createDialer({
    database,
    lease,
    leaseSeconds: config.leaseSeconds,
    clock,
    log,
    gateways,
    maxCalls: config.maxConcurrency,
    registry: metrics.registry,
    startDue: startDueCampaign(agents),
    runs: runCallOwner,
    onFinished: async (tx, campaign) => {
      await recordEngineMove(tx, campaign, clock.now());
      await recordCompletion(tx, campaign, clock.now());
    },
  });

  const guard = createAddressGuard(config.outboundAllowedAddresses ?? { networks: [], hosts: [] });
  const outbound = createOutboundHttp(guard);
  const flows = createFlows();
  const runEngine = createRunEngine({
    database,
    lease,
    leaseSeconds: config.leaseSeconds,
    clock,
    log,
    flows,
    registry: metrics.registry,
    send: outbound.send,
    isSimulated: dialer.isSimulated,
    place: dialer.place,
    longestBlockMs: config.longestBlockHours * 3_600_000,
  });
  const { nudge } = runEngine;
  const startRun = createRunStarter({ database, clock, flows, engine: runEngine });

  const limits = {
    maxRows: config.uploadMaxRows,
    maxBytes: config.uploadMaxBytes,
    maxColumns: config.uploadMaxColumns,
    maxRowLength: config.uploadMaxRowBytes,
  };
  const contactLists = { database, notifications, jobs, objects, clock, log, limits };
  const knowledgeBases = { database, jobs, objects, clock, log, maxBytes: config.documentMaxBytes };

  const phoneNumbers = { database, clock, log, secrets, agents, guard, gateways: [simulator], onReleased: leavePool };

  const campaigns = {
    database,
    agents,
    clock,
    notifications,
    maxConcurrency: config.maxConcurrency,
    nudge: dialer.nudge,
  };

  const webhooks = {
    database,
    clock,
    log,
    secrets,
    lease,
    guard,
    send: outbound.send,
    metrics: registerWebhookMetrics(metrics.registry),
  };

  const handlers: Handlers = {
    ...phoneNumberOperations(phoneNumbers),
    ...numberPoolOperations(phoneNumbers),
    ...contactListOperations(contactLists),
    ...doNotCallOperations({ database, clock }),
    ...campaignOperations(campaigns),
    ...batchOperations(campaigns),
    ...knowledgeBaseOperations(knowledgeBases),
    ...runOperations({ database, clock, notifications, flows, startRun, nudge, nudgeHangUps: dialer.nudgeHangUps }),
    ...callOperations({ database, clock, countConversions, ...dialer }),
    ...workflowOperations({ database, agents, clock }),
    ...workspaceOperations({ database, clock, secrets, onHoursChanged: forgetWindows }),
    ...apiKeyOperations({ database, clock }),
    ...auditLogOperations(database),
    ...webhookOperations(webhooks),
  };
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
    validateResponses: overrides.validateResponses ?? config.validateResponses,
    trustProxy: config.trustProxy,
    draining: parts.draining,
    notReady: parts.notReady,
    outside,
    ...(overrides.onAnswer && { onAnswer: overrides.onAnswer }),
  });

  return {
    app,
    start: async () => {
      await simulator.start();
      dialer.start();
      runEngine.start();
      loops = [
        startPhoneNumberTasks(phoneNumbers),
        { close: () => dialer.stop() },
        { close: () => runEngine.stop() },
        await startContactListWork(contactLists),
        await startKnowledgeBaseWork(knowledgeBases),
        every(RETENTION_MS, () => deleteOldEvents(database, clock.now()), { name: 'event retention', log }),
        startWebhookSender(webhooks),
        receiveCalls({
          database,
          clock,
          log,
          lease,
          agents,
          gateways,
          ask: (call) => askInboundWebhook(webhooks, call),
          ...dialer,
        }),
        every(RETENTION_MS, () => eraseOldDeliveries(database, clock.now()), { name: 'delivery retention', log }),
        every(RETENTION_MS, () => deleteOldIdempotencyKeys(database, clock.now()), { name: 'key retention', log }),
      ];
    },
    stop: async (requestsEnded) => {
      await Promise.all([...loops.map((loop) => loop.close()), jobs.quit(), requestsEnded]);
      await lease
        .release()
        .catch((error) => log.warn({ err: error }, 'the lease could not be given back; it runs out'));
      await Promise.all([simulator.stop(), jobs.close(), notifications.close(), keyRing.close(), outbound.close()]);
    },
  };
}

const RETENTION_MS = 600_000;

/** S3 where a bucket is configured, else a folder of the data directory. */
async function openObjects({ config, clock, publicUrl }: Parts, key: Buffer): Promise<ObjectStore | DiskObjectStore> {
  const { s3Bucket: bucket, s3Region: region, s3Endpoint: endpoint } = config;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if (bucket) {
    const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
    return openS3ObjectStore({ bucket, region, endpoint, credentials });
  }
  return openDiskObjectStore({
    directory: path.join(config.dataDir, 'objects'),
    secret: createHmac('sha256', key).update('signed object URLs').digest('hex'),
    baseUrl: () => publicUrl,
    clock,
  });
}

/** A file or an HTTP directory where one is configured; else every agent ID is accepted. */
async function openAgents({ config, clock }: Parts): Promise<AgentDirectory> {
  if (config.agentsFile) {
    return fileAgents(config.agentsFile).catch((error) => {
      throw new ConfigError(`AGENTS_FILE ${error.message}`);
    });
  }
  return config.agentsUrl ? httpAgents({ baseUrl: config.agentsUrl, clock }) : anyAgent;
}

import path from 'node:path';
import { isUnspecified } from '@trunkline/media';
import type { Parts, Services } from './compose-services.ts';
import type { Config } from './config.ts';
import { leavePool } from './lines/number-pools/leave-pool.ts';
import { recordTurned } from './lines/phone-numbers/record-number.ts';
import { registerWebhookMetrics } from './platform/webhooks/metrics.ts';
import { createComingFiles } from './platform/workspace/coming-files.ts';
import { MOST_BYTES, MOST_ROWS } from './records/exports/export.ts';

/** What the acts and the loops of features work with. */
export type Features = ReturnType<typeof featuresOf>;

/** What the acts and the loops of features work with. */
export function featuresOf({ config, database, clock, log }: Parts, services: Services) {
  const { agents, guard, jobs, lease, metrics, notifications, objects, outbound, secrets, trunkGuard } = services;
  const limits = {
    maxRows: config.uploadMaxRows,
    maxBytes: config.uploadMaxBytes,
    maxColumns: config.uploadMaxColumns,
    maxRowLength: config.uploadMaxRowBytes,
  };
  const { storageMaxBytes } = config;
  const coming = createComingFiles(metrics.registry);
  const common = { database, clock, log, secrets };
  return {
    contactLists: {
      ...{ database, notifications, jobs, objects, clock, log, secrets, limits, coming, storageMaxBytes },
      guard: services.restoreGuard,
    },
    recordings: {
      database,
      objects,
      clock,
      log,
      directory: path.join(config.dataDir, 'recordings'),
      retentionDays: config.recordingRetentionDays,
      storageMaxBytes,
    },
    knowledgeBases: {
      ...{ database, jobs, objects, clock, log, secrets, maxBytes: config.documentMaxBytes, coming, storageMaxBytes },
      basesOfCall: services.callTokens.basesOf,
    },
    sounds: { database, jobs, objects, clock, coming, storageMaxBytes },
    exports: { database, jobs, objects, clock, log, mostRows: MOST_ROWS, mostBytes: MOST_BYTES },
    phoneNumbers: {
      ...common,
      ...{
        agents,
        guard,
        trunkGuard,
        markets: services.markets,
        accountProviders: services.accountProviders,
        prober: services.prober,
      },
      callsOut: config.sipHost !== undefined,
      ...originOf(config),
      onReleased: leavePool,
      onTurned: recordTurned,
    },
    webhooks: { ...common, lease, guard, send: outbound.send, metrics: registerWebhookMetrics(metrics.registry) },
  };
}

/** Where providers send calls for numbers of this server: only if its address is known. */
function originOf({ sipHost, sipPublicAddress, sipPort }: Config): { originUri?: string } {
  const address = sipPublicAddress ?? (sipHost === undefined || isUnspecified(sipHost) ? undefined : sipHost);
  if (sipHost === undefined || address === undefined) return {};
  return { originUri: `sip:${address.includes(':') ? `[${address}]` : address}:${sipPort}` };
}

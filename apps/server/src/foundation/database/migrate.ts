import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import type { Logger } from 'pino';
import * as initial from '../../../migrations/0001-initial.ts';
import * as simulator from '../../../migrations/0002-simulator.ts';
import * as auditLogIndex from '../../../migrations/0003-audit-log-index.ts';
import * as runCalls from '../../../migrations/0004-run-calls.ts';
import * as numberPools from '../../../migrations/0005-number-pools.ts';
import * as workflows from '../../../migrations/0006-workflows.ts';
import * as knowledgeBases from '../../../migrations/0007-knowledge-bases.ts';
import * as webhooks from '../../../migrations/0008-webhooks.ts';
import * as workflowRuns from '../../../migrations/0009-workflow-runs.ts';
import * as batches from '../../../migrations/0010-batches.ts';
import * as premiumRate from '../../../migrations/0011-premium-rate.ts';
import * as inboundCalls from '../../../migrations/0012-inbound-calls.ts';
import * as webhookDeliveries from '../../../migrations/0014-webhook-deliveries.ts';
import * as keyRetention from '../../../migrations/0015-key-retention.ts';
import * as hotRows from '../../../migrations/0016-hot-rows.ts';
import * as liveCallsOfNumber from '../../../migrations/0018-live-calls-of-number.ts';
import * as webhookQueue from '../../../migrations/0019-webhook-queue.ts';
import * as simulatorWall from '../../../migrations/0020-simulator-wall.ts';
import * as passagesWall from '../../../migrations/0021-passages-wall.ts';
import * as fileFormat from '../../../migrations/0022-file-format.ts';
import * as installation from '../../../migrations/0023-installation.ts';
import * as callingHours from '../../../migrations/0024-calling-hours.ts';
import * as lanesOfZones from '../../../migrations/0025-lanes-of-zones.ts';
import * as agents from '../../../migrations/0026-agents.ts';
import * as trunks from '../../../migrations/0027-trunks.ts';
import * as numberOwners from '../../../migrations/0028-number-owners.ts';
import * as recordings from '../../../migrations/0029-recordings.ts';
import * as sweepIndexes from '../../../migrations/0030-sweep-indexes.ts';
import * as sipCalls from '../../../migrations/0031-sip-calls.ts';
import * as trunkRegistrations from '../../../migrations/0032-trunk-registrations.ts';
import * as agentRooms from '../../../migrations/0033-agent-rooms.ts';
import * as sipMessages from '../../../migrations/0034-sip-messages.ts';
import * as externalIds from '../../../migrations/0035-external-ids.ts';
import * as deletedBatches from '../../../migrations/0036-deleted-batches.ts';
import * as testCalls from '../../../migrations/0037-test-calls.ts';
import * as agentLimits from '../../../migrations/0038-agent-limits.ts';
import * as exports from '../../../migrations/0039-exports.ts';
import * as digestAndShares from '../../../migrations/0040-digest-and-shares.ts';
import * as tagsAndFilters from '../../../migrations/0041-tags-and-filters.ts';
import * as callIntents from '../../../migrations/0042-call-intents.ts';
import * as entriesByJson from '../../../migrations/0043-entries-by-json.ts';
import * as callTranscripts from '../../../migrations/0044-call-transcripts.ts';
import * as whatChangedLast from '../../../migrations/0045-what-changed-last.ts';
import * as indexesOfLists from '../../../migrations/0046-indexes-of-lists.ts';
import * as campaignsThatFail from '../../../migrations/0047-campaigns-that-fail.ts';
import * as storage from '../../../migrations/0048-storage.ts';
import * as erasures from '../../../migrations/0049-erasures.ts';
import * as numberCheck from '../../../migrations/0050-number-check.ts';
import * as erasuresByTurns from '../../../migrations/0051-erasures-by-turns.ts';
import * as foundNumbers from '../../../migrations/0052-found-numbers.ts';
import * as runsByTurns from '../../../migrations/0053-runs-by-turns.ts';
import * as erasuresThatEnd from '../../../migrations/0054-erasures-that-end.ts';
import * as unreadUploads from '../../../migrations/0055-unread-uploads.ts';
import * as doNotCallRevision from '../../../migrations/0056-do-not-call-revision.ts';
import * as clocksOfNumbers from '../../../migrations/0057-clocks-of-numbers.ts';
import * as attemptsPerPerson from '../../../migrations/0058-attempts-per-person.ts';
import * as notesOfSteps from '../../../migrations/0059-notes-of-steps.ts';
import * as defaultQuietHours from '../../../migrations/0060-default-quiet-hours.ts';
import * as wordsOfLists from '../../../migrations/0062-words-of-lists.ts';
import * as requiredConsent from '../../../migrations/0063-required-consent.ts';
import type { Database } from './database.ts';
import { watchPool } from './silence.ts';

/** Every migration, in the order of its name. They go forward only. */
export const migrations = {
  '0001-initial': initial,
  '0002-simulator': simulator,
  '0003-audit-log-index': auditLogIndex,
  '0004-run-calls': runCalls,
  '0005-number-pools': numberPools,
  '0006-workflows': workflows,
  '0007-knowledge-bases': knowledgeBases,
  '0008-webhooks': webhooks,
  '0009-workflow-runs': workflowRuns,
  '0010-batches': batches,
  '0011-premium-rate': premiumRate,
  '0012-inbound-calls': inboundCalls,
  '0014-webhook-deliveries': webhookDeliveries,
  '0015-key-retention': keyRetention,
  '0016-hot-rows': hotRows,
  '0018-live-calls-of-number': liveCallsOfNumber,
  '0019-webhook-queue': webhookQueue,
  '0020-simulator-wall': simulatorWall,
  '0021-passages-wall': passagesWall,
  '0022-file-format': fileFormat,
  '0023-installation': installation,
  '0024-calling-hours': callingHours,
  '0025-lanes-of-zones': lanesOfZones,
  '0026-agents': agents,
  '0027-trunks': trunks,
  '0028-number-owners': numberOwners,
  '0029-recordings': recordings,
  '0030-sweep-indexes': sweepIndexes,
  '0031-sip-calls': sipCalls,
  '0032-trunk-registrations': trunkRegistrations,
  '0033-agent-rooms': agentRooms,
  '0034-sip-messages': sipMessages,
  '0035-external-ids': externalIds,
  '0036-deleted-batches': deletedBatches,
  '0037-test-calls': testCalls,
  '0038-agent-limits': agentLimits,
  '0039-exports': exports,
  '0040-digest-and-shares': digestAndShares,
  '0041-tags-and-filters': tagsAndFilters,
  '0042-call-intents': callIntents,
  '0043-entries-by-json': entriesByJson,
  '0044-call-transcripts': callTranscripts,
  '0045-what-changed-last': whatChangedLast,
  '0046-indexes-of-lists': indexesOfLists,
  '0047-campaigns-that-fail': campaignsThatFail,
  '0048-storage': storage,
  '0049-erasures': erasures,
  '0050-number-check': numberCheck,
  '0051-erasures-by-turns': erasuresByTurns,
  '0052-found-numbers': foundNumbers,
  '0053-runs-by-turns': runsByTurns,
  '0054-erasures-that-end': erasuresThatEnd,
  '0055-unread-uploads': unreadUploads,
  '0056-do-not-call-revision': doNotCallRevision,
  '0057-clocks-of-numbers': clocksOfNumbers,
  '0058-attempts-per-person': attemptsPerPerson,
  '0059-notes-of-steps': notesOfSteps,
  '0060-default-quiet-hours': defaultQuietHours,
  '0062-words-of-lists': wordsOfLists,
  '0063-required-consent': requiredConsent,
};

/**
 * Brings the database's tables to the newest state. Several servers may call this at once: an advisory lock lets one
 * work and the others wait. Throws what a migration threw; nothing of it is kept then.
 */
export async function migrate(database: Database, log: Logger): Promise<void> {
  // Connections without the limits of the others: it takes its time, and waits for who migrates already.
  const pool = new pg.Pool({ ...database.connection, connectionTimeoutMillis: 10_000, application_name: 'trunkline' });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const silence = watchPool(pool, { connection: database.connection, log });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await warnOfPrivileges(db, log);
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
    const { error, results = [] } = await migrator.migrateToLatest();
    const done = results.filter(({ status }) => status === 'Success');
    if (done.length > 0) log.info({ migrations: done.length, newest: done.at(-1)!.migrationName }, 'migrated');
    const failed = results.find(({ status }) => status === 'Error');
    if (failed) log.error({ migration: failed.migrationName }, 'a migration failed');
    if (error) throw error;
  } finally {
    await db.destroy();
    silence.close();
  }
}

/** Row-level security is the second wall between workspaces, and such a role walks through it. */
async function warnOfPrivileges(db: Kysely<unknown>, log: Logger): Promise<void> {
  const { rows } = await sql<{ unbound: boolean }>`
    select rolsuper or rolbypassrls as unbound from pg_roles where rolname = current_user`.execute(db);
  if (rows[0]?.unbound) {
    log.warn(
      'the database role is a superuser or has BYPASSRLS: row-level security does not bind it; use another role',
    );
  }
}

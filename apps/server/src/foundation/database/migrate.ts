import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import * as initial from '../../../migrations/0065-initial.ts';
import * as witnessSlots from '../../../migrations/0066-witness-slots.ts';
import * as serverVersions from '../../../migrations/0067-server-versions.ts';
import * as erasureSteps from '../../../migrations/0068-erasure-steps.ts';
import * as auditWithoutKey from '../../../migrations/0070-audit-without-key.ts';
import * as callOwners from '../../../migrations/0071-call-owners.ts';
import * as withheldNumbers from '../../../migrations/0072-withheld-numbers.ts';
import * as agentEnd from '../../../migrations/0073-agent-end.ts';
import * as abandonedRetry from '../../../migrations/0074-abandoned-retry.ts';
import * as agentHealth from '../../../migrations/0075-agent-health.ts';
import * as agentSilence from '../../../migrations/0076-agent-silence.ts';
import * as asksAgent from '../../../migrations/0077-asks-agent.ts';
import * as unansweredInvites from '../../../migrations/0078-unanswered-invites.ts';
import * as keptAnswers from '../../../migrations/0080-kept-answers.ts';
import * as callsWithMetadata from '../../../migrations/0083-calls-with-metadata.ts';
import * as editions from '../../../migrations/0090-editions.ts';
import * as moreEditions from '../../../migrations/0091-more-editions.ts';
import * as numberKey from '../../../migrations/0095-number-key.ts';
import * as probeAuto from '../../../migrations/0096-probe-auto.ts';
import * as headersToAgent from '../../../migrations/0097-headers-to-agent.ts';
import * as numberEndings from '../../../migrations/0098-number-endings.ts';
import * as trunkGrants from '../../../migrations/0099-trunk-grants.ts';
import * as numberPeers from '../../../migrations/0100-number-peers.ts';
import * as learntAddresses from '../../../migrations/0102-learnt-addresses.ts';
import * as agentConnections from '../../../migrations/0103-agent-connections.ts';
import * as sounds from '../../../migrations/0104-sounds.ts';
import * as speechSounds from '../../../migrations/0105-speech-sounds.ts';
import * as agentLimits from '../../../migrations/0107-agent-limits.ts';
import * as callUsage from '../../../migrations/0110-call-usage.ts';
import * as campaignBudget from '../../../migrations/0111-campaign-budget.ts';
import * as callBackTerms from '../../../migrations/0115-call-back-terms.ts';
import * as readAs from '../../../migrations/0118-read-as.ts';
import * as readColumns from '../../../migrations/0119-read-columns.ts';
import * as sessions from '../../../migrations/0120-sessions.ts';
import * as members from '../../../migrations/0121-members.ts';
import * as redial from '../../../migrations/0125-redial.ts';
import * as eventFeed from '../../../migrations/0126-event-feed.ts';
import * as rejectedRows from '../../../migrations/0128-rejected-rows.ts';
import * as recordingPeaks from '../../../migrations/0129-recording-peaks.ts';
import * as serverConditions from '../../../migrations/0131-server-conditions.ts';
import * as mediaEncryption from '../../../migrations/0132-media-encryption.ts';
import * as callDtmf from '../../../migrations/0134-call-dtmf.ts';
import * as callTransfers from '../../../migrations/0135-call-transfers.ts';
import * as whoAnswered from '../../../migrations/0137-who-answered.ts';
import * as voicemail from '../../../migrations/0138-voicemail.ts';
import * as providerAccounts from '../../../migrations/0141-provider-accounts.ts';
import * as managedTrunks from '../../../migrations/0142-managed-trunks.ts';
import * as trunksMade from '../../../migrations/0143-trunks-made.ts';
import * as serverUrl from '../../../migrations/0145-server-url.ts';
import { ConfigError } from '../../config.ts';
import { appliedTo, type Migration, noteApplied, openAppliedMigrations } from './applied-migrations.ts';
import { Client } from './client.ts';
import type { Database } from './database.ts';
import { watchPool } from './silence.ts';
import { runningFault, serverVersion, versionFault, versionOfTables } from './versions.ts';

/** Every migration, in the order of its name. They go forward only. */
export const migrations: Record<string, Migration> = {
  '0065-initial': initial,
  '0066-witness-slots': witnessSlots,
  '0067-server-versions': serverVersions,
  '0068-erasure-steps': erasureSteps,
  '0070-audit-without-key': auditWithoutKey,
  '0071-call-owners': callOwners,
  '0072-withheld-numbers': withheldNumbers,
  '0073-agent-end': agentEnd,
  '0074-abandoned-retry': abandonedRetry,
  '0075-agent-health': agentHealth,
  '0076-agent-silence': agentSilence,
  '0077-asks-agent': asksAgent,
  '0078-unanswered-invites': unansweredInvites,
  '0080-kept-answers': keptAnswers,
  '0083-calls-with-metadata': callsWithMetadata,
  '0090-editions': editions,
  '0091-more-editions': moreEditions,
  '0095-number-key': numberKey,
  '0096-probe-auto': probeAuto,
  '0097-headers-to-agent': headersToAgent,
  '0098-number-endings': numberEndings,
  '0099-trunk-grants': trunkGrants,
  '0100-number-peers': numberPeers,
  '0102-learnt-addresses': learntAddresses,
  '0103-agent-connections': agentConnections,
  '0104-sounds': sounds,
  '0105-speech-sounds': speechSounds,
  '0107-agent-limits': agentLimits,
  '0110-call-usage': callUsage,
  '0111-campaign-budget': campaignBudget,
  '0115-call-back-terms': callBackTerms,
  '0118-read-as': readAs,
  '0119-read-columns': readColumns,
  '0120-sessions': sessions,
  '0121-members': members,
  '0125-redial': redial,
  '0126-event-feed': eventFeed,
  '0128-rejected-rows': rejectedRows,
  '0129-recording-peaks': recordingPeaks,
  '0131-server-conditions': serverConditions,
  '0132-media-encryption': mediaEncryption,
  '0134-call-dtmf': callDtmf,
  '0135-call-transfers': callTransfers,
  '0137-who-answered': whoAnswered,
  '0138-voicemail': voicemail,
  '0141-provider-accounts': providerAccounts,
  '0142-managed-trunks': managedTrunks,
  '0143-trunks-made': trunksMade,
  '0145-server-url': serverUrl,
};

/** Any number that no other advisory lock of ours has: one process migrates, and others wait. */
export const LOCK_ID = 7_065_200;

/**
 * Brings the database's tables to the newest state, in one transaction. Several servers may call this at once: one works
 * and the others wait. Tables of a newer version that this server can work with are left as they are.
 * @param known every migration of this server; a test gives others
 * @throws `ConfigError` if the tables are too old or too new for this server, or would be too new for others that run; and
 *   what a migration threw. Nothing of it is kept then.
 */
export async function migrate(database: Database, log: Logger, known = migrations): Promise<void> {
  // Connections without the limits of the others: it takes its time, and waits for who migrates already.
  const pool = new pg.Pool({
    ...database.connection,
    Client,
    connectionTimeoutMillis: 10_000,
    application_name: 'trunkline',
  });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const silence = watchPool(pool, { connection: database.connection, log });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await warnOfPrivileges(db, log);
    const done = await db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(LOCK_ID)})`.execute(tx);
      return bringUpToDate(tx, log, known);
    });
    if (done.length > 0) log.info({ migrations: done.length, newest: done.at(-1) }, 'migrated');
  } finally {
    await db.destroy();
    silence.close();
  }
}

/** Does what is not done yet, and answers what that was. */
async function bringUpToDate(tx: Kysely<unknown>, log: Logger, known: typeof migrations): Promise<string[]> {
  await openAppliedMigrations(tx);
  const applied = await appliedTo(tx);
  const fault = versionFault(applied, known);
  if (fault) throw new ConfigError(fault);
  if (applied.some(({ name }) => !known[name])) {
    const versions = { version: serverVersion(known), tables: versionOfTables(applied) };
    log.info(versions, 'the tables are of a newer version, which this server can work with');
  }
  const pending = Object.entries(known).filter(([name]) => !applied.some((each) => each.name === name));
  if (applied.length > 0) await refuseUnderServers(tx, Object.fromEntries(pending), known);
  for (const [name, migration] of pending) {
    await migration.up(tx).catch((error) => {
      log.error({ migration: name }, 'a migration failed');
      throw error;
    });
    await noteApplied(tx, name, migration);
  }
  return pending.map(([name]) => name);
}

/** Throws `ConfigError` if servers run that would not work with the tables any more. */
async function refuseUnderServers(tx: Kysely<unknown>, pending: typeof migrations, known: typeof migrations) {
  // As JSON: before 0.2.0 servers had no version.
  const { rows } = await sql<{ version: string | null }>`
    select to_jsonb(s) ->> 'version' as version from servers s where lease_until > clock_timestamp()`.execute(tx);
  const fault = runningFault(
    rows.map(({ version }) => version),
    pending,
    known,
  );
  if (fault) throw new ConfigError(fault);
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

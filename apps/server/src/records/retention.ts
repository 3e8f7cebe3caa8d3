import type { Logger } from 'pino';
import { deleteOldRejectedRows } from '../audience/contact-lists/rejected-rows.ts';
import type { Config } from '../config.ts';
import { deleteOldCalls } from '../dialing/calls/retention.ts';
import { deleteOldRuns, forgetOldConcurrencyKeys } from '../dialing/workflows/runs/retention.ts';
import type { Database } from '../foundation/database/database.ts';
import { deleteOldIdempotencyKeys } from '../foundation/database/idempotency-keys.ts';
import type { Clock } from '../foundation/values/clock.ts';
import { eraseOldMessages } from '../lines/telephony/kept-messages.ts';
import { forgetSimulatedCalls } from '../lines/telephony/simulator-retention.ts';
import { deleteOldSessions } from '../platform/api-keys/session-store.ts';
import { every, type Repeating } from '../platform/jobs/every.ts';
import { deleteOldAuditEntries, deleteOldEvents, deleteOldPlaces } from '../platform/journal/retention.ts';
import { deleteRemovedMembers } from '../platform/members/member-store.ts';
import { eraseOldDeliveries } from '../platform/webhooks/retention.ts';

const RETENTION_MS = 600_000;
/** The whole table of these keys is read each time. */
const KEYS_MS = 3_600_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * 3600 * 1000;

/** Erases what is kept for a time only. */
export function startRetention({
  database,
  clock,
  log,
  config,
}: {
  database: Database;
  clock: Clock;
  log: Logger;
  config: Config;
}): Repeating[] {
  const sweep = (name: string, run: (signal: AbortSignal) => Promise<unknown>, ms = RETENTION_MS) =>
    every(ms, run, { name: `${name} retention`, log });
  /** Of what is kept for ever unless a setting says for how many days. */
  const byDays = (
    name: string,
    days: number | undefined,
    erase: (database: Database, before: Date, signal: AbortSignal) => Promise<void>,
  ) =>
    days === undefined
      ? []
      : [sweep(name, (signal) => erase(database, new Date(clock.now().getTime() - days * DAY_MS), signal))];
  return [
    sweep('event', async (signal) => {
      const now = clock.now();
      await deleteOldPlaces(database, now, signal);
      // A place may be behind one that is younger, and stay with it: its event must be there.
      await deleteOldEvents(database, new Date(now.getTime() - HOUR_MS), signal);
    }),
    sweep('delivery', async (signal) => void (await eraseOldDeliveries(database, clock.now(), signal))),
    sweep('SIP message', (signal) => eraseOldMessages(database, clock.now(), signal)),
    sweep('key', (signal) => deleteOldIdempotencyKeys(database, clock.now(), signal)),
    sweep('rejected row', (signal) => deleteOldRejectedRows(database, clock.now(), signal)),
    sweep('session', (signal) => deleteOldSessions(database, clock.now(), signal)),
    sweep('member', (signal) => deleteRemovedMembers(database, signal)),
    sweep('concurrency key', (signal) => forgetOldConcurrencyKeys(database, clock.now(), signal), KEYS_MS),
    ...byDays('simulator', config.simulatorCallRetentionDays, forgetSimulatedCalls),
    ...byDays('call', config.callRetentionDays, deleteOldCalls),
    ...byDays('run', config.runRetentionDays, deleteOldRuns),
    ...byDays('audit', config.auditRetentionDays, deleteOldAuditEntries),
  ];
}

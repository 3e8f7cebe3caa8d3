import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { NIL } from 'uuid';
import { cancelWithin } from '../../dialing/workflows/runs/cancel-run.ts';
import { isFinal, type RunRow } from '../../dialing/workflows/runs/run.ts';
import { type Database, type EngineTx, forWorkspace } from '../../foundation/database/database.ts';
import { numberDigest } from '../../foundation/database/number-digest.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import { type DueTime, whileQuiet } from '../../platform/jobs/quiet.ts';
import { findPerson } from '../../platform/person-data/find-person.ts';
import { lookThrough } from '../../platform/person-data/look-through.ts';
import type { Store } from '../../platform/person-data/stores.ts';
import type { ErasureDeps } from './deps.ts';
import { eraseBesideCalls, isBeingRecorded, isOnACall } from './erase-calls.ts';
import { eraseContacts, eraseEntries } from './erase-contacts.ts';
import { deleteFiles, noteDeleted } from './erase-files.ts';
import { eraseKeys } from './erase-keys.ts';
import { eraseMentions } from './erase-mentions.ts';
import { takeBackCalls } from './erase-waiting-calls.ts';
import type { RunningErasure } from './erasure.ts';
import { moveOn } from './move-on.ts';
import { goOn, type Outcome } from './outcome.ts';
import { hasKnownStep, stepNamed } from './steps.ts';
import { isGivenUp, isOnTime, nextTry } from './tries.ts';

const LOOK_MS = 500;
const LONGEST_REST_MS = 1000;

/** Tables whose rows of a person the first steps have taken out, and into which one may come while the others wait. */
const takenOutBefore = new Set(['do_not_call', 'contact_list_entries', 'campaign_contacts', 'call_intents']);

/**
 * Begins to erase numbers, in this process. Each batch is one transaction that holds the erasure's row and moves it on: so
 * servers may do it at once, and one that dies leaves the rest to another. Workspaces take turns, with the erasure that
 * waits longest, and after each batch there is a rest for as long as it took.
 */
export function startErasing(deps: ErasureDeps): Repeating {
  const nextBatch = erasingByTurns(deps);
  const run = async (signal: AbortSignal) => {
    const began = performance.now();
    const hasMore = await nextBatch();
    const restMs = Math.min(performance.now() - began, LONGEST_REST_MS);
    if (hasMore) await sleep(restMs, undefined, { signal }).catch(() => undefined);
    return hasMore;
  };
  return every(LOOK_MS, run, { name: 'erase numbers', log: deps.log, asleep: whileQuiet(deps.database, firstDue) });
}

/** Does the next batch at each call, of one workspace after the other. It answers whether there was one. */
export function erasingByTurns(deps: ErasureDeps): () => Promise<boolean> {
  let last: string = NIL;
  return async () => {
    const now = deps.clock.now();
    const next = await nextDue(deps.database, now, last);
    if (!next) return false;
    last = next.workspace_id;
    await eraseBatch(deps, next, now);
    return true;
  };
}

const firstDue: DueTime = sql`select min(due_at) from erasures where status = 'running' and ${hasKnownStep}`;

/**
 * The longest due of the workspace whose turn is after that of another. Those that wait are passed over in the index, and
 * so are those that servers of a newer version are to go on with.
 */
async function nextDue(database: Database, now: Date, after: string): Promise<RunningErasure | undefined> {
  const first = (which: RawBuilder<unknown>) => sql`(
    select * from erasures where status = 'running' and ${which} and due_at <= ${now} and ${hasKnownStep}
    order by workspace_id, due_at limit 1)`;
  const { rows } = await database.inEngine((tx) =>
    sql<RunningErasure>`
      ${first(sql`workspace_id > ${after}`)} union all ${first(sql`workspace_id <= ${after}`)} limit 1`.execute(tx.db),
  );
  return rows[0];
}

async function eraseBatch(deps: ErasureDeps, next: RunningErasure, now: Date): Promise<void> {
  try {
    await advance(deps, next, now);
  } catch (error) {
    await deps.database.inEngine((tx) => noteFailure(tx, next, now));
    throw error;
  }
}

/** Others go on while one that failed rests, longer and longer, until it is given up. */
async function noteFailure(tx: EngineTx, next: RunningErasure, now: Date): Promise<void> {
  const erasure = await hold(tx, next, now);
  if (!erasure) return;
  const since = erasure.failing_since ?? now;
  if (isGivenUp(since, now) && isOnTime(erasure.due_at, now))
    return moveOn(tx, erasure, { next: 'fail', failure: 'internal_error' }, now);
  await sql`
    update erasures set failing_since = ${since}, waits_for = 'retry', waits_until = null, due_at = ${nextTry(since, now)}
    where workspace_id = ${erasure.workspace_id} and id = ${erasure.id} and status = 'running'`.execute(tx.db);
}

async function advance(deps: ErasureDeps, next: RunningErasure, now: Date): Promise<void> {
  const { database } = deps;
  const files = next.step === 'files' ? await deleteFiles(deps, next) : undefined;
  if (next.step === 'webhook_deliveries') await untilHandedOver(database, next.workspace_id);
  await database.inEngine(async (tx) => {
    const erasure = await hold(tx, next, now);
    if (!erasure) return;
    const doNext = async (): Promise<Outcome> => {
      if (await isOnACall(tx, erasure.workspace_id, erasure.phone_number))
        return { next: 'wait', waitsFor: 'call', goesOn: 'here' };
      return files ? noteDeleted(tx, deps, erasure, files, now) : stepOn(tx, deps, erasure, now);
    };
    await moveOn(tx, erasure, await doNext(), now);
  });
}

/** Locks an erasure; nothing where another server holds it, or has moved it on. */
async function hold({ db }: EngineTx, next: RunningErasure, now: Date): Promise<RunningErasure | undefined> {
  const { rows } = await sql<RunningErasure>`
    select * from erasures where workspace_id = ${next.workspace_id} and id = ${next.id} and status = 'running'
      and step = ${next.step} and place is not distinct from ${next.place}::text[] and due_at <= ${now}
    for update skip locked`.execute(db);
  return rows[0];
}

/**
 * Waits for those who make deliveries of a workspace: they hold its endpoints until these can be seen, and whoever comes
 * after reads what is left without the number.
 */
async function untilHandedOver(database: Database, workspaceId: string): Promise<void> {
  await database.inEngine(({ db }) =>
    sql`select from webhooks where workspace_id = ${workspaceId} order by id for no key update`.execute(db),
  );
}

function stepOn(tx: EngineTx, deps: ErasureDeps, erasure: RunningErasure, now: Date): Promise<Outcome> {
  const step = stepNamed(erasure.step);
  if (step === 'entries') return eraseEntries(tx, erasure, now);
  if (step === 'contacts') return eraseContacts(tx, erasure);
  if (step === 'waiting calls') return takeBackCalls(tx, erasure, now, deps.recordEvents);
  if (step === 'keys') return eraseKeys(tx, erasure, now);
  if (step === 'files') throw new Error('Files are erased outside of a transaction.');
  return eraseFrom(tx, deps, step, erasure, now);
}

/** Looks through the next rows of a table. */
async function eraseFrom(
  tx: EngineTx,
  deps: ErasureDeps,
  store: Store,
  erasure: RunningErasure,
  now: Date,
): Promise<Outcome> {
  const { workspace_id: workspaceId, phone_number: number } = erasure;
  const person = await findPerson(tx, workspaceId, number);
  const { found, place } = await lookThrough(tx, store, { workspaceId, person, after: erasure.place ?? undefined });
  if (takenOutBefore.has(store.table) && found.some((row) => row.isPerson)) return { next: 'anew' };
  const persons = found.filter((row) => row.isPerson || store.isPersons).map((row) => row.key[0]!);
  const counts = { mentions: found.length - persons.length };
  if (store.table === 'workflow_runs') {
    await cancelActive(tx, deps, workspaceId, persons, now);
    Object.assign(counts, { runs: persons.length });
  }
  if (store.table === 'calls') {
    if (await isBeingRecorded(tx, workspaceId, persons)) return { next: 'wait', waitsFor: 'recording', goesOn: 'here' };
    await eraseBesideCalls(tx, erasure, persons, now);
    Object.assign(counts, { calls: persons.length });
  }
  const mark = found.length > 0 && store.table === 'audit_log' ? await markOf(tx, workspaceId, number) : '';
  const changed = await eraseMentions(tx, store, { workspaceId, person, mark }, found);
  // A copy of what was found may have been made meanwhile, and stands behind it.
  const again = store.table === 'webhook_deliveries' && changed > 0;
  return again ? { counts, next: 'again' } : { counts, ...goOn(place) };
}

/** Runs that go on would use what is erased: they are cancelled, with all that they have started. */
async function cancelActive(tx: EngineTx, deps: ErasureDeps, workspaceId: string, ids: string[], now: Date) {
  const { rows } = await sql<RunRow>`
    select * from workflow_runs where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) and ended_at is null
    order by id`.execute(tx.db);
  for (const run of rows)
    if (!isFinal(run.status)) await cancelWithin(forWorkspace(tx, workspaceId), deps, { runId: run.id }, now);
}

/** What stands in the audit log in the place of a number. */
async function markOf(tx: EngineTx, workspaceId: string, number: number): Promise<string> {
  const digest = numberDigest(sql`${number}::bigint`, sql`${workspaceId}::uuid`);
  const { rows } = await sql<{ mark: string }>`select 'hmac:' || encode(${digest}, 'hex') as mark`.execute(tx.db);
  return rows[0]!.mark;
}

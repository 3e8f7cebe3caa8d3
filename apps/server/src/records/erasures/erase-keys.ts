import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import { findPerson } from '../../platform/person-data/find-person.ts';
import type { RunningErasure } from './erasure.ts';
import type { Outcome } from './outcome.ts';
import { afterRound } from './tries.ts';

const HOUR_MS = 3_600_000;
const IDEMPOTENCY_MS = 24 * HOUR_MS;
const COOLDOWN_MS = 7 * 24 * HOUR_MS;
const CHUNK = 5000;

/**
 * Deletes keys that clients have made of the number, once they keep nobody from being called twice any more: an
 * Idempotency-Key after 24 hours, a Concurrency-Key seven days after its last run. Until then the erasure waits.
 * It looks through the one kind of keys after the other, a chunk at a time, and notes the latest of these times.
 */
export async function eraseKeys(tx: EngineTx, erasure: RunningErasure, now: Date): Promise<Outcome> {
  const { workspace_id: workspaceId, phone_number: number } = erasure;
  const [kind = 'idempotency', first = '', second = '', latest = '0'] = erasure.place ?? [];
  const { pattern } = await findPerson(tx, workspaceId, number);
  const isOfRun = kind === 'concurrency';
  const after = sql`${isOfRun ? sql`key > ${first}` : sql`(operation, key) > (${first}, ${second})`}`;
  const names = isOfRun ? sql`key as first, '' as second` : sql`operation as first, key as second`;
  const until = isOfRun
    ? sql`case when active_run is null then last_ended_at + make_interval(secs => ${COOLDOWN_MS / 1000})
        else ${new Date(now.getTime() + COOLDOWN_MS)} end`
    : sql`created_at + make_interval(secs => ${IDEMPOTENCY_MS / 1000})`;
  const table = sql.table(isOfRun ? 'concurrency_keys' : 'idempotency_keys');
  const { rows } = await sql<{ first: string; second: string; until: Date; is_found: boolean }>`
    select ${names}, ${until} as until, key ~ ${pattern} as is_found from ${table}
    where workspace_id = ${workspaceId} and ${after}
    order by ${isOfRun ? sql`key` : sql`operation, key`} limit ${sql.lit(CHUNK)}`.execute(tx.db);
  const found = rows.filter((row) => row.is_found);
  for (const row of found.filter((each) => each.until <= now)) {
    await sql`
      delete from ${table} where workspace_id = ${workspaceId} and ${
        isOfRun
          ? sql`key = ${row.first} and active_run is null and last_ended_at <= ${new Date(now.getTime() - COOLDOWN_MS)}`
          : sql`operation = ${row.first} and key = ${row.second}`
      }`.execute(tx.db);
  }
  const last = String(Math.max(Number(latest), ...found.map((row) => (row.until > now ? row.until.getTime() : 0))));
  if (rows.length === CHUNK) return { next: 'place', place: [kind, rows.at(-1)!.first, rows.at(-1)!.second, last] };
  if (!isOfRun) return { next: 'place', place: ['concurrency', '', '', last] };
  return afterRound(erasure, last === '0' ? undefined : new Date(Number(last)), now);
}

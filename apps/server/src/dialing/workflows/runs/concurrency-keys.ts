import { sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import type { Row } from '../../../foundation/database/schema.ts';
import { toId } from '../../../foundation/values/ids.ts';
import { ServiceError } from '../../../foundation/values/service-error.ts';
import type { NewRun } from './run-start.ts';

type KeyRow = Pick<Row<'concurrency_keys'>, 'key' | 'active_run' | 'last_ended_at'> & { workflow_id: string | null };

/**
 * Takes the concurrency keys of new runs, each key once: one statement decides, also against a run that is just ending.
 * Answers with the refusals, by the runs' IDs: `concurrency_conflict` while another run holds the key, and
 * `cooldown_active` after its end.
 */
export async function takeConcurrencyKeys(
  tx: WorkspaceTx,
  runs: readonly NewRun[],
  now: Date,
): Promise<Map<string, ServiceError>> {
  const keyed = runs
    .filter(({ run }) => run.concurrency_key !== null)
    .map(({ start, run }) => ({
      id: run.id,
      key: run.concurrency_key!,
      cooldown_minutes: start.cooldownMinutes ?? 0,
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  if (keyed.length === 0) return new Map();
  const taken = await sql<{ active_run: string }>`
    insert into concurrency_keys as k (workspace_id, key, active_run, cooldown_minutes)
    select ${tx.workspaceId}, key, id, cooldown_minutes
    from json_to_recordset(${JSON.stringify(keyed)}::json) as x (id uuid, key text, cooldown_minutes integer)
    on conflict (workspace_id, key) do update
      set active_run = excluded.active_run, cooldown_minutes = excluded.cooldown_minutes
      where k.active_run is null and (k.last_ended_at is null or excluded.cooldown_minutes = 0
        or k.last_ended_at + make_interval(mins => excluded.cooldown_minutes) <= ${now})
    returning active_run`.execute(tx.db);
  const winners = new Set(taken.rows.map((row) => row.active_run));
  const losers = keyed.filter(({ id }) => !winners.has(id));
  if (losers.length === 0) return new Map();
  // A second statement, which sees what the first one has waited for, and has locked.
  const { rows } = await sql<KeyRow>`
    select key, active_run, last_ended_at, (select r.workflow_id from workflow_runs r
      where r.workspace_id = k.workspace_id and r.id = k.active_run) as workflow_id
    from concurrency_keys k where workspace_id = ${tx.workspaceId} and key = any(${losers.map(({ key }) => key)}::text[])`.execute(
    tx.db,
  );
  const held = new Map(rows.map((row) => [row.key, row]));
  return new Map(losers.map(({ id, key, cooldown_minutes }) => [id, refusal(held.get(key)!, cooldown_minutes, now)]));
}

function refusal({ active_run, last_ended_at, workflow_id }: KeyRow, cooldownMinutes: number, now: Date): ServiceError {
  if (active_run !== null) {
    const holder = `${toId('run', active_run)}${workflow_id === null ? '' : ` of the workflow ${toId('wf', workflow_id)}`}`;
    return new ServiceError('concurrency_conflict', `The run ${holder} holds this Concurrency-Key.`, {
      details: [{ path: '/headers/Concurrency-Key', message: `held by ${holder}` }],
    });
  }
  const endedMs = last_ended_at!.getTime();
  const seconds = Math.max(1, Math.ceil((endedMs + cooldownMinutes * 60_000 - now.getTime()) / 1000));
  const ago = Math.max(0, Math.round((now.getTime() - endedMs) / 1000));
  return new ServiceError(
    'cooldown_active',
    `The last run with this Concurrency-Key ended ${ago} seconds ago. Try again in ${seconds} seconds.`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}

import { sql } from 'kysely';
import { NIL } from 'uuid';
import { INTENT } from '../../dialing/call-intents/intent.ts';
import { fromE164 } from '../../dialing/calls/call.ts';
import { readNumber } from '../../dialing/calls/may-dial.ts';
import { CONTACT } from '../../dialing/campaigns/end-contacts.ts';
import { fillText } from '../../dialing/workflows/definitions/fill-template.ts';
import { createFlows, type Flow, flowName } from '../../dialing/workflows/runs/flows.ts';
import { RUN } from '../../dialing/workflows/runs/recall-run-calls.ts';
import type { RunRow } from '../../dialing/workflows/runs/run.ts';
import type { Database } from '../../foundation/database/database.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import type { CalledRow } from './called-file.ts';
import { isUnheard, type LostCall } from './lost-calls.ts';

/** What a carrier's list says of those who would be called. */
export interface CalledPeople {
  /** Calls that contacts, runs and calls by themselves still wait for, though their people were called. */
  calls: LostCall[];
  /** How many numbers of the list nobody waits to call. */
  notFound: number;
}

/** How many numbers, and runs, are read at once. */
const NUMBERS = 5000;
const RUNS = 500;
/** How far a carrier's time of a call may lie from the database's, in seconds. */
const CLOCKS = 120;

interface FoundRow {
  number: number;
  workspace_id: string;
  room_id: string | null;
  owner_kind: string;
  owner_id: string;
  campaign_id: string | null;
  attempt: number;
  at: Date | null;
}

/** Who of a carrier's list would be called, in all workspaces. A row with the time of a call that the database knows is of that call. */
export async function findCalled(database: Database, rows: readonly CalledRow[], now: Date): Promise<CalledPeople> {
  const calls = new Map<string, LostCall>();
  const found = new Set<number>();
  for (let from = 0; from < rows.length; from += NUMBERS) {
    for (const row of await findWaiting(database, rows.slice(from, from + NUMBERS))) {
      found.add(row.number);
      const { workspace_id: workspaceId, campaign_id: campaignId, attempt } = row;
      const roomId = row.room_id ?? newUuid();
      const owner = { kind: row.owner_kind, id: row.owner_id };
      calls.set(owner.id, {
        ...{ workspaceId, roomId, owner, campaignId, attempt },
        at: row.at ?? now,
        digest: undefined,
      });
    }
  }
  for await (const { number, call } of runsCalling(database, rows, now)) {
    found.add(number);
    calls.set(call.roomId, call);
  }
  const numbers = new Set(rows.map((row) => row.number));
  return { calls: [...calls.values()], notFound: numbers.size - found.size };
}

/** SQL, true for rows `x` (number, workspace_id, at) that are of no call that the database knows. */
const isLost = sql`
  (x.at is null or not exists (select from calls c where c.workspace_id = x.workspace_id and c.to_number = x.number
    and x.at between c.dialed_at - make_interval(secs => ${CLOCKS})
      and coalesce(c.ended_at, c.dialed_at) + make_interval(secs => ${CLOCKS})))`;

/** Contacts and calls by themselves that wait for a number, and calls to it that no provider has heard of yet. */
async function findWaiting(database: Database, rows: readonly CalledRow[]): Promise<FoundRow[]> {
  const found = await database.inEngine(({ db }) =>
    sql<FoundRow>`
      with called as materialized (
        select number, workspace_id, max(at) as at
        from (select x.number, x.at, w.id as workspace_id
          from unnest(${rows.map((row) => row.number)}::bigint[], ${rows.map((row) => row.at ?? null)}::timestamptz[])
            as x (number, at) cross join workspaces w) as x
        where ${isLost} group by number, workspace_id)
      select x.number, x.workspace_id, null::uuid as room_id, ${CONTACT} as owner_kind, k.id as owner_id, k.campaign_id,
        (k.attempt + 1)::smallint as attempt, x.at
      from called x join campaign_contacts k on k.workspace_id = x.workspace_id and k.phone_number = x.number
        and k.state in ('pending', 'waiting')
      join campaigns p on p.workspace_id = k.workspace_id and p.id = k.campaign_id and p.status in ('running', 'paused')
      union all
      select x.number, x.workspace_id, i.id, ${INTENT}, i.id, null, (i.attempt + 1)::smallint, x.at
      from called x join call_intents i on i.workspace_id = x.workspace_id and i.to_number = x.number
        and i.next_attempt_at is not null
      union all
      select x.number, x.workspace_id, c.id, c.owner_kind, c.owner_id, c.campaign_id, c.attempt, x.at
      from called x join calls c on c.workspace_id = x.workspace_id and c.to_number = x.number
        and ${isUnheard}`.execute(db),
  );
  return found.rows;
}

/** Runs of which a call node, as their context is now, is to call one of the numbers. */
async function* runsCalling(
  database: Database,
  rows: readonly CalledRow[],
  now: Date,
): AsyncGenerator<{ number: number; call: LostCall }> {
  const rowsOf = new Map<number, CalledRow[]>();
  for (const row of rows) {
    const own = rowsOf.get(row.number);
    if (own) own.push(row);
    else rowsOf.set(row.number, [row]);
  }
  for await (const { run, flow } of openRuns(database)) {
    const number = (flow?.definition.nodes ?? [])
      .flatMap((node) => (node.type === 'call' ? [numberOf(node.to, run)] : []))
      .find((each) => each !== undefined && rowsOf.has(each));
    if (number === undefined) continue;
    const at = await lastLost(database, run.workspace_id, rowsOf.get(number)!, now);
    if (!at) continue;
    const owner = { kind: RUN, id: run.id };
    const own = { workspaceId: run.workspace_id, roomId: newUuid(), owner, attempt: run.calls + 1 };
    yield { number, call: { ...own, campaignId: null, at, digest: undefined } };
  }
}

/** Runs that have not ended, but for those that are on a call. */
async function* openRuns(database: Database): AsyncGenerator<{ run: RunRow; flow: Flow | undefined }> {
  const flows = createFlows();
  for (let after: Pick<RunRow, 'workspace_id' | 'id'> = { workspace_id: NIL, id: NIL }; ; ) {
    const { runs, flowOf } = await database.inEngine(async (tx) => {
      const { rows } = await sql<RunRow>`
        select * from workflow_runs where ended_at is null and status <> 'waiting_call'
          and (workspace_id, id) > (${after.workspace_id}, ${after.id})
        order by workspace_id, id limit ${RUNS}`.execute(tx.db);
      return { runs: rows, flowOf: await flows.of(tx, rows) };
    });
    for (const run of runs) yield { run, flow: flowOf.get(flowName(run)) };
    if (runs.length < RUNS) return;
    after = runs.at(-1)!;
  }
}

/** When a number was called last that the database knows nothing of; undefined where it knows of every call. */
async function lastLost(
  database: Database,
  workspaceId: string,
  rows: readonly CalledRow[],
  now: Date,
): Promise<Date | undefined> {
  const { rows: lost } = await database.inEngine(({ db }) =>
    sql<{ at: Date | null }>`
      select x.at from (select number, at, ${workspaceId}::uuid as workspace_id
        from unnest(${rows.map((row) => row.number)}::bigint[], ${rows.map((row) => row.at ?? null)}::timestamptz[])
          as x (number, at)) as x
      where ${isLost} order by x.at desc nulls last limit 1`.execute(db),
  );
  return lost[0] && (lost[0].at ?? now);
}

/** Whom a node calls; undefined where the run doesn't know that yet. */
function numberOf(to: string, run: RunRow): number | undefined {
  try {
    const filled = fillText(to, run.context);
    return readNumber(filled) && fromE164(filled);
  } catch {
    return undefined;
  }
}

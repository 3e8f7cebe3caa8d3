import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import { from } from '../../foundation/database/moves.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import { type DueTime, whileQuiet } from '../../platform/jobs/quiet.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import { askForCall } from '../calls/ask-for-call.ts';
import { toE164 } from '../calls/call.ts';
import type { CallToPlace } from '../calls/place-calls.ts';
import type { Switchboard } from '../calls/switchboard.ts';
import { TRANSFER, type TransferRow, transferTransitions } from './transfer.ts';

const REST_MS = 500;
const MOST_AT_ONCE = 20;
/** What no server has taken by then is not done any more, in seconds. */
const TAKEN_WITHIN = 30;

/** While a transfer waits. */
const anyWaiting: DueTime = sql`select 'epoch'::timestamptz from call_transfers where status = 'waiting' limit 1`;

export interface HandingOn {
  database: Database;
  lease: Lease;
  clock: Clock;
  log: Logger;
  switchboard: Pick<Switchboard, 'place' | 'isSimulated' | 'mayPlace'>;
  operator: OperatorLimits;
}

/** Calls whom this server's calls are handed on to, from its start on. */
export function createHandingOn(options: HandingOn) {
  let loop: Repeating | undefined;
  return {
    start: () => {
      loop = handOnCalls(options);
    },
    nudge: () => loop?.nudge(),
    close: async () => loop?.close(),
  };
}

/** Each is committed as a call of its own before anything is sent. */
function handOnCalls(options: HandingOn): Repeating {
  const { database, lease, clock, log, switchboard } = options;
  const turn = async (): Promise<void> => {
    await giveUp(database, clock.now());
    const { rows } = await database.inEngine(({ db }) =>
      sql<Pick<TransferRow, 'workspace_id' | 'id'>>`
        select t.workspace_id, t.id from call_transfers t
        join calls c on c.workspace_id = t.workspace_id and c.id = t.room_id
        where t.status = 'waiting' and c.server_id = ${lease.serverId()} and c.ended_at is null
        order by t.requested_at limit ${sql.lit(MOST_AT_ONCE)}`.execute(db),
    );
    if (rows.length === 0 || !(await switchboard.mayPlace())) return;
    const workspaces = new Map<string, string[]>();
    for (const { workspace_id, id } of rows)
      workspaces.set(workspace_id, [...(workspaces.get(workspace_id) ?? []), id]);
    // What one workspace waits for keeps no other waiting.
    await Promise.all(
      [...workspaces].map(async ([workspaceId, its]) => {
        try {
          for (const id of its) {
            const call = await database.inWorkspace(workspaceId, (tx) => take(tx, id, options));
            if (call) switchboard.place([call]);
          }
        } catch (error) {
          log.warn({ err: error, workspaceId }, 'calls could not be handed on; they are looked at again');
        }
      }),
    );
  };
  return every(REST_MS, turn, { name: 'handing on calls', log, asleep: whileQuiet(database, anyWaiting) });
}

/** Those that no server has taken in time, or whose call has ended before. */
async function giveUp(database: Database, now: Date): Promise<void> {
  await database.inEngine(({ db }) =>
    sql`
      update call_transfers t set status = 'failed', settled_at = ${now},
        reason = case when coalesce(c.ended_at, c.end_requested_at) is null then 'not_taken' else 'call_ended' end
      from calls c
      where c.workspace_id = t.workspace_id and c.id = t.room_id and t.status = 'waiting'
        and t.status in ${from(transferTransitions, 'failed')}
        and (c.ended_at is not null or c.end_requested_at is not null or t.requested_at < ${now}::timestamptz - make_interval(secs => ${TAKEN_WITHIN}))`.execute(
      db,
    ),
  );
}

type Taken = Pick<TransferRow, 'id' | 'room_id' | 'to_number' | 'timeout_seconds'> & {
  own_number: string;
  max_call_seconds: number;
};

/** @returns the call to the new party, or nothing if there is none */
async function take(
  tx: WorkspaceTx,
  id: string,
  { lease, clock, switchboard, operator }: HandingOn,
): Promise<CallToPlace | undefined> {
  const { rows } = await sql<Taken>`
    select t.id, t.room_id, t.to_number, t.timeout_seconds, c.max_call_seconds,
      '+' || case c.direction when 'inbound' then c.to_number else c.from_number end as own_number
    from call_transfers t join calls c on c.workspace_id = t.workspace_id and c.id = t.room_id
    where t.workspace_id = ${tx.workspaceId} and t.id = ${id} and t.status = 'waiting' and c.ended_at is null
      and c.end_requested_at is null
    for update of t skip locked`.execute(tx.db);
  const [transfer] = rows;
  if (!transfer) return undefined;
  const now = clock.now();
  const wish = {
    ...{ workspaceId: tx.workspaceId, owner: { kind: TRANSFER, id }, attempt: 1, to: toE164(transfer.to_number) },
    ...{ from: { number: transfer.own_number }, agentId: null, variables: {}, recording: false, asksAgain: false },
    ...{ hours: {}, ringTimeoutSeconds: transfer.timeout_seconds, maxCallSeconds: transfer.max_call_seconds },
  };
  const terms = { serverId: lease.serverId(), now, isSimulated: switchboard.isSimulated, operator };
  const answer = await askForCall(tx, wish, terms);
  const row = sql`workspace_id = ${tx.workspaceId} and id = ${id}`;
  if (answer.kind === 'queued') {
    await sql`
      update call_transfers set status = 'dialing', leg_room_id = ${answer.call.roomId}
      where ${row} and status in ${from(transferTransitions, 'dialing')}`.execute(tx.db);
    return { ...answer.call, request: { ...answer.call.request, handsOn: transfer.room_id } };
  }
  await sql`
    update call_transfers set status = 'failed', settled_at = ${now},
      reason = ${answer.kind === 'blocked' ? answer.reason : answer.outcome}
    where ${row} and status in ${from(transferTransitions, 'failed')}`.execute(tx.db);
  return undefined;
}

/** How often it is tried to note that two are joined, once a second: a database that is away is back by then. */
const MOST_TRIES = 60;

/** Notes that both parties are joined, as soon as it can be: whether it can ends nobody's call. */
export async function noteJoined(
  deps: Pick<HandingOn, 'database' | 'clock' | 'log'>,
  workspaceId: string,
  id: string,
): Promise<void> {
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    try {
      return await writeJoined(deps, workspaceId, id);
    } catch (error) {
      deps.log.warn({ err: error, transferId: id }, 'that two are joined could not be noted yet');
      await sleep(1000, undefined, { ref: false });
    }
  }
}

async function writeJoined(
  { database, clock }: Pick<HandingOn, 'database' | 'clock'>,
  workspaceId: string,
  id: string,
): Promise<void> {
  await database.inWorkspace(workspaceId, ({ db }) =>
    sql`
      update call_transfers set status = 'joined', settled_at = ${clock.now()}
      where workspace_id = ${workspaceId} and id = ${id} and status in ${from(transferTransitions, 'joined')}`.execute(
      db,
    ),
  );
}

import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { from } from '../database/moves.ts';
import { noteEnds } from '../number-pools/note-ends.ts';
import type { CallEvent, CallOutcome } from '../telephony/gateway.ts';
import { callTransitions, type EndedCall, finalStatus, type HeldCall } from './call.ts';
import type { RecordCallEvents } from './call-events.ts';
import type { CallOwner } from './call-owner.ts';
import { type OwnedRow, ownedColumns, toOwned } from './call-row.ts';

/** How long events are gathered before they are written as a set (engine.md, "Ends and counters"). */
const FLUSH_MS = 20;
/** The most calls that one flush writes. */
const FLUSH_SIZE = 500;
/** How long a flush waits after the database refused it. */
const RETRY_MS = 500;

/** What is known of a call since the last flush. */
interface Progress {
  ringingAt?: Date;
  answeredAt?: Date;
  ended?: CallEvent & { type: 'ended' };
}

/** Writes what providers tell of calls. */
export interface CallRecorder {
  record(events: CallEvent[]): void;
  /** Resolves when everything recorded so far is written, or can't be now. */
  idle(): Promise<void>;
}

/**
 * Gathers the events of the calls that this process holds and writes them in sets. Events may come twice, late or out
 * of order: a call only moves forward, and ends once; one that was answered can't be cancelled any more, and completes.
 */
export function createCallRecorder(options: {
  database: Database;
  owners: Pick<Required<CallOwner>, 'lock' | 'onCallsEnded'>;
  recordEvents: RecordCallEvents;
  /** The call of a room that this process holds. */
  callOf: (roomId: string) => HeldCall | undefined;
  clock: Clock;
  log: Logger;
  /** Called after the end of some calls was committed, with those among them that hadn't ended before. */
  onWritten: (ending: HeldCall[], ended: EndedCall[]) => void;
}): CallRecorder {
  const { database, owners, recordEvents, callOf, clock, log } = options;
  const gathered = new Map<string, Progress>();
  let size = FLUSH_SIZE;
  let timer: NodeJS.Timeout | undefined;
  let flushing = false;
  const waiters: (() => void)[] = [];

  const schedule = (ms: number) => {
    if (timer === undefined) timer = setTimeout(flush, ms);
  };

  const note = (event: CallEvent) => {
    if (!callOf(event.roomId)) return;
    const progress = gathered.get(event.roomId) ?? {};
    gathered.set(event.roomId, progress);
    if (event.type === 'ringing') progress.ringingAt ??= event.at;
    else if (event.type === 'answered') progress.answeredAt ??= event.at;
    else if (event.type === 'ended') progress.ended ??= event;
  };

  async function flush(): Promise<void> {
    timer = undefined;
    if (flushing) return;
    flushing = true;
    const taken = [...gathered].slice(0, size);
    for (const [roomId] of taken) gathered.delete(roomId);
    let failed = false;
    try {
      await write(taken);
      size = FLUSH_SIZE;
    } catch (error) {
      log.error({ err: error, calls: taken.length }, 'call events could not be written; they are tried again');
      for (const [roomId, progress] of taken) gathered.set(roomId, { ...gathered.get(roomId), ...progress });
      // What the database refuses every time must not keep the others waiting.
      size = Math.max(1, Math.floor(size / 2));
      failed = true;
    }
    flushing = false;
    if (gathered.size > 0) schedule(failed ? RETRY_MS : gathered.size >= FLUSH_SIZE ? 0 : FLUSH_MS);
    if (gathered.size === 0 || failed) for (const resolve of waiters.splice(0)) resolve();
  }

  async function write(taken: [string, Progress][]): Promise<void> {
    const known = taken.flatMap(([roomId, progress]) => {
      const call = callOf(roomId);
      return call ? [[call, progress] as const] : [];
    });
    if (known.length === 0) return;
    const ending = known.filter(([, progress]) => progress.ended).map(([call]) => call);
    const now = clock.now();
    const written = await database.inHotLoop(async (tx) => {
      await owners.lock(tx, ending);
      const { rows } = await sql<MovedRow>`
        update calls c set
          status = case
            when x.final_status = 'failed' and c.status in ${from(callTransitions, 'failed')} then 'failed'
            when x.final_status = 'cancelled' and x.answered_at is null
              and c.status in ${from(callTransitions, 'cancelled')} then 'cancelled'
            when x.final_status is not null then 'completed'
            when x.answered_at is not null and c.status in ${from(callTransitions, 'in_progress')} then 'in_progress'
            when c.status in ${from(callTransitions, 'ringing')} then 'ringing'
            else c.status end,
          ringing_at = coalesce(c.ringing_at, x.ringing_at),
          answered_at = coalesce(c.answered_at, x.answered_at),
          ended_at = x.ended_at, outcome = x.outcome, ended_by = x.ended_by, sip_status = x.sip_status
        from unnest(
          ${known.map(([call]) => call.workspaceId)}::uuid[],
          ${known.map(([call]) => call.roomId)}::uuid[],
          ${known.map(([, p]) => (p.ended ? finalStatus(p.ended.outcome) : null))}::text[],
          ${known.map(([, p]) => p.ringingAt ?? null)}::timestamptz[],
          ${known.map(([, p]) => p.answeredAt ?? null)}::timestamptz[],
          ${known.map(([, p]) => p.ended?.at ?? null)}::timestamptz[],
          ${known.map(([, p]) => p.ended?.outcome ?? null)}::text[],
          ${known.map(([, p]) => p.ended?.endedBy ?? null)}::text[],
          ${known.map(([, p]) => p.ended?.sipStatus ?? null)}::smallint[])
          as x (workspace_id, id, final_status, ringing_at, answered_at, ended_at, outcome, ended_by, sip_status)
        where c.workspace_id = x.workspace_id and c.id = x.id and c.status in ${from(callTransitions, 'completed')}
        returning ${ownedColumns}, c.outcome, c.ended_at, c.phone_number_id, c.pooled`.execute(tx.db);
      const moved = new Set(rows.map((row) => row.id));
      const answered = known.filter(([call, { answeredAt }]) => answeredAt && moved.has(call.roomId));
      const calls = rows.flatMap(ended);
      const answeredCalls = answered.map(([call]) => call);
      await Promise.all([owners.onCallsEnded(tx, calls, now), recordEvents(tx, 'call.answered', answeredCalls)]);
      const pooled = calls.filter((call) => call.pooled);
      await noteEnds(tx, pooled, now);
      return calls;
    });
    if (ending.length > 0) options.onWritten(ending, written);
  }

  return {
    record: (events) => {
      for (const event of events) note(event);
      if (gathered.size > 0 && !flushing) schedule(FLUSH_MS);
    },
    idle: () =>
      gathered.size === 0 && !flushing ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve)),
  };
}

interface MovedRow extends OwnedRow {
  outcome: CallOutcome | null;
  ended_at: Date | null;
  phone_number_id: string;
  pooled: boolean;
}

/** The call of a row, where it has ended. */
const ended = (row: MovedRow): (EndedCall & { pooled: boolean; phoneNumberId: string })[] => {
  const { outcome, ended_at: endedAt, phone_number_id: phoneNumberId, pooled } = row;
  return outcome && endedAt ? [{ ...toOwned(row), outcome, endedAt, phoneNumberId, pooled }] : [];
};

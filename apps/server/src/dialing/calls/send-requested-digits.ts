import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import { from } from '../../foundation/database/moves.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { MOST_WAITING } from '../../lines/conversation/digit-line.ts';
import { type DigitsSent, LONGEST_MS } from '../../lines/media/digits.ts';
import type { CallGateway } from '../../lines/telephony/call-gateway.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import { type DueTime, whileQuiet } from '../../platform/jobs/quiet.ts';
import type { HeldCall } from './call.ts';
import { dtmfTransitions } from './dtmf.ts';

const REST_MS = 500;
const MOST_AT_ONCE = 100;
/** What no server has taken by then is not sent any more, in seconds. */
const TAKEN_WITHIN = 30;
/** Nothing is heard again of what one was sending for so long, those before it in the call included. In seconds. */
const SENT_WITHIN = TAKEN_WITHIN + (MOST_WAITING * LONGEST_MS) / 1000;
/** Who sends digits in a call that has ended says by then what came of them, in seconds. */
const TOLD_WITHIN = 5;

/** While digits are asked for. */
const anyOpen: DueTime = sql`select 'epoch'::timestamptz from call_dtmf where ended_at is null limit 1`;

interface Taken {
  workspace_id: string;
  id: string;
  room_id: string;
  digits: string;
}

interface SenderOptions {
  database: Database;
  lease: Lease;
  clock: Clock;
  log: Logger;
  callOf: (roomId: string) => HeldCall | undefined;
  gatewayFor: (provider: string) => CallGateway;
}

/** Sends digits in calls that this process holds. */
export function createDigitSender(options: SenderOptions) {
  let loop: Repeating | undefined;
  const send = async (roomId: string, digits: string): Promise<DigitsSent> => {
    const call = options.callOf(roomId);
    if (!call) return { isSent: false, reason: 'call_ended' };
    return await options.gatewayFor(call.provider).sendDigits(roomId, digits);
  };
  return {
    /** Nothing is thrown. */
    send,
    /** Begins to send what is asked for of calls of this server. */
    start: () => {
      loop = sendRequested(options, send);
    },
    nudge: () => loop?.nudge(),
    close: async () => loop?.close(),
  };
}

/** What is taken is sent once, or not at all. */
function sendRequested(
  { database, lease, clock, log }: SenderOptions,
  sendDigits: (roomId: string, digits: string) => Promise<DigitsSent>,
): Repeating {
  /** What this process sends, by its ID, until it is written what came of it. */
  const sending = new Map<string, Promise<void>>();
  const closing = new AbortController();

  const turn = async (): Promise<void> => {
    const now = clock.now();
    const own = lease.serverId();
    const taken = await database.inEngine(async ({ db }) => {
      // What was taken for a call of this server and isn't sent was lost: with the answer to a commit, or a process.
      await sql`
        with lost as materialized (
          select d.workspace_id, d.id, d.status, case when d.status = 'sending' then 'server_lost'
            when c.id is null or c.ended_at is not null then 'call_ended' else 'not_taken' end as reason
          from call_dtmf d left join calls c on c.workspace_id = d.workspace_id and c.id = d.room_id
          where d.ended_at is null and d.status in ${from(dtmfTransitions, 'failed')}
            and d.id <> all(${[...sending.keys()]}::uuid[]) and case when d.status = 'sending'
              then c.id is null or c.server_id = ${own}
                or c.ended_at < ${now}::timestamptz - make_interval(secs => ${TOLD_WITHIN})
                or d.requested_at < ${now}::timestamptz - make_interval(secs => ${SENT_WITHIN})
              else c.id is null or c.ended_at is not null
                or d.requested_at < ${now}::timestamptz - make_interval(secs => ${TAKEN_WITHIN}) end)
        update call_dtmf d set status = 'failed', ended_at = ${now}, digits = null, reason = lost.reason from lost
        where d.workspace_id = lost.workspace_id and d.id = lost.id and d.status = lost.status
          and d.status in ${from(dtmfTransitions, 'failed')}`.execute(db);
      const { rows } = await sql<Taken>`
        with due as materialized (
          select d.workspace_id, d.id, d.room_id, d.digits, d.requested_at from call_dtmf d
          join calls c on c.workspace_id = d.workspace_id and c.id = d.room_id
          where d.ended_at is null and d.status in ${from(dtmfTransitions, 'sending')}
            and c.server_id = ${own} and c.ended_at is null
          order by d.requested_at, d.id limit ${sql.lit(MOST_AT_ONCE)} for update of d skip locked)
        update call_dtmf d set status = 'sending', digits = null from due
        where d.workspace_id = due.workspace_id and d.id = due.id
          and d.status in ${from(dtmfTransitions, 'sending')}
        returning due.workspace_id, due.id, due.room_id, due.digits`.execute(db);
      return rows;
    });
    // IDs are of their time: what was asked for first is sent first.
    for (const row of taken.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
      sending.set(
        row.id,
        send(row).finally(() => sending.delete(row.id)),
      );
  };

  async function send({ workspace_id, id, room_id, digits }: Taken): Promise<void> {
    const sent = await sendDigits(room_id, digits);
    const row = sql`workspace_id = ${workspace_id} and id = ${id}`;
    const end = sent.isSent
      ? sql`update call_dtmf set status = 'sent', ended_at = ${clock.now()}
          where ${row} and status in ${from(dtmfTransitions, 'sent')}`
      : sql`update call_dtmf set status = 'failed', reason = ${sent.reason}, ended_at = ${clock.now()}
          where ${row} and status in ${from(dtmfTransitions, 'failed')}`;
    for (let isTold = false; ; isTold = true) {
      try {
        await database.inEngine(({ db }) => end.execute(db));
        return;
      } catch (error) {
        if (!isTold) log.error({ err: error, roomId: room_id }, 'what came of digits could not be written yet');
        if (closing.signal.aborted) return;
        await sleep(REST_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  const loop = every(REST_MS, turn, { name: 'sending digits', log, asleep: whileQuiet(database, anyOpen) });
  return {
    nudge: loop.nudge,
    close: async () => {
      closing.abort();
      await loop.close();
      await Promise.all(sending.values());
    },
  };
}

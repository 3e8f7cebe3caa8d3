import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import { from } from '../../foundation/database/moves.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { DigitsSent } from '../../lines/media/digits.ts';
import type { CallGateway } from '../../lines/telephony/call-gateway.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import { type DueTime, whileQuiet } from '../../platform/jobs/quiet.ts';
import type { HeldCall } from './call.ts';
import { dtmfTransitions } from './dtmf.ts';

const REST_MS = 500;
const MOST_AT_ONCE = 100;
/** What no server has taken by then is not sent any more, in seconds; nor is heard of again what one was sending for so long. */
const TAKEN_WITHIN = 30;
const SENT_WITHIN = 660;

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
  const sending = new Set<Promise<void>>();

  const turn = async (): Promise<void> => {
    const now = clock.now();
    const taken = await database.inEngine(async ({ db }) => {
      await sql`
        update call_dtmf d set status = 'failed', ended_at = ${now}, digits = null,
          reason = case when d.status = 'sending' then 'server_lost' when exists (select from calls c
            where c.workspace_id = d.workspace_id and c.id = d.room_id and c.ended_at is null) then 'not_taken'
            else 'call_ended' end
        where d.ended_at is null and d.status in ${from(dtmfTransitions, 'failed')}
          and d.requested_at < ${now}::timestamptz - make_interval(secs => case when d.status = 'sending'
            then ${SENT_WITHIN} when exists (select from calls c where c.workspace_id = d.workspace_id
            and c.id = d.room_id and c.ended_at is null) then ${TAKEN_WITHIN} else 0 end)`.execute(db);
      const { rows } = await sql<Taken>`
        with due as materialized (
          select d.workspace_id, d.id, d.room_id, d.digits, d.requested_at from call_dtmf d
          join calls c on c.workspace_id = d.workspace_id and c.id = d.room_id
          where d.ended_at is null and d.status in ${from(dtmfTransitions, 'sending')}
            and c.server_id = ${lease.serverId()} and c.ended_at is null
          order by d.requested_at, d.id limit ${sql.lit(MOST_AT_ONCE)} for update of d skip locked)
        update call_dtmf d set status = 'sending', digits = null from due
        where d.workspace_id = due.workspace_id and d.id = due.id
          and d.status in ${from(dtmfTransitions, 'sending')}
        returning due.workspace_id, due.id, due.room_id, due.digits`.execute(db);
      return rows;
    });
    // IDs are of their time: what was asked for first is sent first.
    for (const row of taken.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      const sent = send(row).finally(() => sending.delete(sent));
      sending.add(sent);
    }
  };

  async function send({ workspace_id, id, room_id, digits }: Taken): Promise<void> {
    const sent = await sendDigits(room_id, digits);
    const row = sql`workspace_id = ${workspace_id} and id = ${id}`;
    const end = sent.isSent
      ? sql`update call_dtmf set status = 'sent', ended_at = ${clock.now()}
          where ${row} and status in ${from(dtmfTransitions, 'sent')}`
      : sql`update call_dtmf set status = 'failed', reason = ${sent.reason}, ended_at = ${clock.now()}
          where ${row} and status in ${from(dtmfTransitions, 'failed')}`;
    await database
      .inEngine(({ db }) => end.execute(db))
      .catch((error) => log.error({ err: error, roomId: room_id }, 'what came of digits could not be written'));
  }

  const loop = every(REST_MS, turn, { name: 'sending digits', log, asleep: whileQuiet(database, anyOpen) });
  return {
    nudge: loop.nudge,
    close: async () => {
      await loop.close();
      await Promise.all(sending);
    },
  };
}

import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import type { CallGateway } from '../../lines/telephony/call-gateway.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import { type DueTime, whileQuiet } from '../../platform/jobs/quiet.ts';
import { type HeldCall, referenceOf } from './call.ts';
import { type LiveRow, liveColumns, toHeld } from './call-row.ts';

const REST_MS = 500;
/** A provider that has not ended a call by then, or could not be asked, is asked again. */
const ASK_AGAIN_MS = 5000;
const MOST_AT_ONCE = 100;

/** While the end of a call is asked for. */
const anyToHangUp: DueTime = sql`
  select 'epoch'::timestamptz from calls where ended_at is null and end_requested_at is not null limit 1`;

/** Hangs up the calls of this server whose end was asked for, until the provider has ended them. */
export function hangUpRequested(options: {
  database: Database;
  lease: Lease;
  log: Logger;
  gatewayFor: (provider: string) => CallGateway;
}): Repeating {
  const { database, lease, log } = options;
  /** Until when calls are left alone whose end the provider was asked for: they must not keep the others from being read. */
  const restUntil = new Map<string, number>();
  const asking = new Set<Promise<void>>();

  /** Waits for no provider: one whose trunk is dead takes half a minute to say so. */
  const turn = async (): Promise<void> => {
    for (const [id, until] of restUntil) if (performance.now() >= until) restUntil.delete(id);
    const { rows } = await database.inEngine(({ db }) =>
      sql<LiveRow>`
        select ${liveColumns}
        from calls c join phone_numbers n on n.workspace_id = c.workspace_id and n.id = c.phone_number_id
        where c.server_id = ${lease.serverId()} and c.ended_at is null and c.end_requested_at is not null
          and c.id <> all(${[...restUntil.keys()]}::uuid[])
        limit ${sql.raw(String(MOST_AT_ONCE))}`.execute(db),
    );
    for (const call of rows.map(toHeld)) {
      const asked = hangUp(call).finally(() => asking.delete(asked));
      asking.add(asked);
    }
  };

  async function hangUp(call: HeldCall): Promise<void> {
    const { roomId, provider } = call;
    restUntil.set(roomId, Number.POSITIVE_INFINITY);
    try {
      const answer = await options.gatewayFor(provider).endCall(referenceOf(call));
      // A provider that does not have the call yet is asked again in the next turn.
      restUntil.set(roomId, performance.now() + (answer === 'absent' ? 0 : ASK_AGAIN_MS));
    } catch (error) {
      restUntil.set(roomId, performance.now() + ASK_AGAIN_MS);
      log.warn({ err: error, roomId }, 'a call could not be hung up; it is tried again');
    }
  }

  const loop = every(REST_MS, turn, { name: 'hanging up calls', log, asleep: whileQuiet(database, anyToHangUp) });
  return {
    nudge: loop.nudge,
    close: async () => {
      await loop.close();
      await Promise.all(asking);
    },
  };
}

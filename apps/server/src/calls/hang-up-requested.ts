import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database, EngineTx } from '../database/database.ts';
import type { Lease } from '../database/lease.ts';
import { every, type Repeating } from '../jobs/every.ts';
import type { TelephonyGateway } from '../telephony/gateway.ts';
import { toE164 } from './call.ts';
import type { CallOwner } from './call-owner.ts';

const REST_MS = 500;
/** A provider that has not ended a call by then is asked again. */
const ASK_AGAIN_MS = 5000;
const MOST_AT_ONCE = 100;

interface RequestedRow {
  id: string;
  from_number: number;
  to_number: number;
  placed_at: Date;
  provider: string;
}

/**
 * Asks for the end of calls in the transaction that makes it necessary: takes back those that are `queued`, and notes
 * on live ones that they are to end. The server that holds such a call hangs it up, also after a crash of this one.
 * The owners of the calls are told of those taken back; the caller holds the owners' rows.
 */
export async function requestEndOfCalls(
  tx: EngineTx,
  owner: Pick<CallOwner, 'onCallsEnded'>,
  workspaceId: string,
  roomIds: string[],
  now: Date,
): Promise<void> {
  if (roomIds.length === 0) return;
  const open = sql`workspace_id = ${workspaceId} and id = any(${roomIds}::uuid[]) and ended_at is null`;
  const { rows } = await sql<{
    id: string;
    campaign_id: string | null;
    contact_id: string | null;
    workflow_run_id: string | null;
    attempt: number;
  }>`
    update calls set status = 'cancelled', outcome = 'cancelled', ended_by = 'service', ended_at = ${now},
      end_requested_at = ${now}
    where ${open} and status = 'queued'
    returning id, campaign_id, contact_id, workflow_run_id, attempt`.execute(tx.db);
  await sql`
    update calls set end_requested_at = coalesce(end_requested_at, ${now})
    where ${open} and status in ('dialing', 'ringing', 'in_progress')`.execute(tx.db);
  const ended = rows.map((row) => ({
    workspaceId,
    roomId: row.id,
    campaignId: row.campaign_id,
    contactId: row.contact_id,
    workflowRunId: row.workflow_run_id,
    attempt: row.attempt,
    outcome: 'cancelled' as const,
    endedAt: now,
  }));
  await owner.onCallsEnded(tx, ended, now);
}

/** Hangs up the calls of this server whose end was asked for, until the provider has ended them. */
export function hangUpRequested(options: {
  database: Database;
  lease: Lease;
  log: Logger;
  gatewayFor: (provider: string) => TelephonyGateway;
}): Repeating {
  const { database, lease, log } = options;
  /** The calls whose end the provider was asked for lately; they must not keep the others from being read. */
  const askedAt = new Map<string, number>();

  const turn = async (): Promise<void> => {
    for (const [id, at] of askedAt) if (performance.now() - at >= ASK_AGAIN_MS) askedAt.delete(id);
    const { rows } = await database.inEngine(({ db }) =>
      sql<RequestedRow>`
        select c.id, c.from_number, c.to_number, coalesce(c.dialed_at, c.start_at) as placed_at, n.provider
        from calls c join phone_numbers n on n.workspace_id = c.workspace_id and n.id = c.phone_number_id
        where c.server_id = ${lease.serverId()} and c.ended_at is null and c.end_requested_at is not null
          and c.id <> all(${[...askedAt.keys()]}::uuid[])
        limit ${sql.raw(String(MOST_AT_ONCE))}`.execute(db),
    );
    await Promise.all(rows.map(hangUp));
  };

  async function hangUp(row: RequestedRow): Promise<void> {
    const { id: roomId, placed_at: placedAt } = row;
    const reference = { roomId, to: toE164(row.to_number), from: toE164(row.from_number), placedAt };
    try {
      // A provider that does not have the call yet is asked again in the next turn.
      const answer = await options.gatewayFor(row.provider).endCall(reference);
      if (answer !== 'absent') askedAt.set(roomId, performance.now());
    } catch (error) {
      log.warn({ err: error, roomId }, 'a call could not be hung up; it is tried again');
    }
  }

  return every(REST_MS, turn, { name: 'hanging up calls', log });
}

import { sql } from 'kysely';
import type { Row } from '../../foundation/database/schema.ts';
import type { CallKey, HeldCall, OwnedCall } from './call.ts';

/** What `toOwned` reads. */
export type OwnedRow = Pick<Row<'calls'>, 'workspace_id' | 'id' | 'owner_kind' | 'owner_id' | 'campaign_id'>;

/** What `toHeld` reads. */
export type LiveRow = OwnedRow &
  Pick<Row<'calls'>, 'status' | 'from_number' | 'to_number' | 'attempt' | 'place_before'> &
  Pick<Row<'phone_numbers'>, 'provider'> & { start_at: Date };

/** The columns of an `OwnedRow`: `c` is the call. */
export const ownedColumns = sql`c.workspace_id, c.id, c.owner_kind, c.owner_id, c.campaign_id`;
/** The columns of a `LiveRow`: `c` is the call, `n` its number. */
export const liveColumns = sql`${ownedColumns}, c.status, c.from_number, c.to_number, n.provider, c.attempt,
  coalesce(c.dialed_at, c.start_at) as start_at, c.place_before`;

/** Whom a call belongs to, by its row. */
export const toOwned = (row: OwnedRow): OwnedCall => ({
  workspaceId: row.workspace_id,
  roomId: row.id,
  owner: { kind: row.owner_kind, id: row.owner_id },
  campaignId: row.campaign_id,
});

/** A call by its row, as the process that follows it holds it. */
export const toHeld = (row: LiveRow): HeldCall => ({
  ...toOwned(row),
  fromNumber: row.from_number,
  toNumber: row.to_number,
  provider: row.provider,
  attempt: row.attempt,
  startAt: row.start_at,
  placeBefore: row.place_before,
});

/** The keys of some calls as rows `x`, to be joined with. */
export const keysOf = (calls: readonly CallKey[]) =>
  sql`unnest(${calls.map((call) => call.workspaceId)}::uuid[], ${calls.map((call) => call.roomId)}::uuid[])
    as x (workspace_id, id)`;

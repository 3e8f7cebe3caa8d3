import { type SqlBool, sql } from 'kysely';
import type { EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { DueTime } from '../../platform/jobs/quiet.ts';
import { type AuditEntry, record } from '../../platform/journal/record.ts';
import { type CountedTrunk, shapeTrunk } from './shape-trunk.ts';
import { type TrunkRow, type TrunkStatus, trunkTransitions } from './trunk.ts';

/** Columns of a trunk as they are written. */
export type TrunkColumns = Partial<Omit<TrunkRow, 'headers'>> & { headers?: string };

/** What a new trunk has at least. */
type NewTrunk = Pick<TrunkRow, 'id' | 'termination_url' | 'transport' | 'status_since' | 'created_at' | 'updated_at'>;

const counted = sql`trunks.*, h.slowed_since, h.slowed_until,
  r.standing as registration_status, r.message as registration_message, r.registered_at,
  (select count(*) from phone_numbers n where n.workspace_id = trunks.workspace_id and n.trunk_id = trunks.id
    and n.status <> 'released') as numbers,
  (select count(*) from calls c where c.trunk_id = trunks.id and c.ended_at is null) as live`;
const withHealth = sql`trunks join trunk_health h on h.workspace_id = trunks.workspace_id and h.trunk_id = trunks.id
  left join trunk_registrations r on r.workspace_id = trunks.workspace_id and r.trunk_id = trunks.id`;

/** A trunk with what is counted of it. */
export async function findTrunk(tx: WorkspaceTx, id: string): Promise<CountedTrunk | undefined> {
  const { rows } = await sql<CountedTrunk>`
    select ${counted} from ${withHealth} where trunks.workspace_id = ${tx.workspaceId} and trunks.id = ${id}`.execute(
    tx.db,
  );
  return rows[0];
}

/** Some trunks. */
export async function readTrunks(tx: WorkspaceTx, ids: string[]): Promise<TrunkRow[]> {
  return ids.length === 0 ? [] : trunksOf(tx).where('id', 'in', ids).orderBy('id').execute();
}

/** A trunk, locked for a change. */
export function lockTrunk(tx: WorkspaceTx, id: string): Promise<TrunkRow | undefined> {
  return trunksOf(tx).where('id', '=', id).forUpdate().executeTakeFirst();
}

/** The trunk that an address, transport and username name in the workspace, locked for a change. */
export function lockTrunkNamed(
  tx: WorkspaceTx,
  { terminationUrl, transport, username }: TrunkIdentity,
): Promise<TrunkRow | undefined> {
  return trunksOf(tx)
    .where(sql<SqlBool>`lower(termination_url) = lower(${terminationUrl}) and transport = ${transport}
      and coalesce(username, '') = ${username ?? ''}`)
    .forUpdate()
    .executeTakeFirst();
}

/** What names a trunk among those of a workspace. */
export interface TrunkIdentity {
  terminationUrl: string;
  transport: string;
  username: string | null;
}

/** What a workspace may have: every server looks at all trunks every few seconds. */
const MOST_TRUNKS = 1000;
export const TOO_MANY_TRUNKS = `A workspace has at most ${MOST_TRUNKS.toLocaleString('en')} trunks. Delete one first.`;

/** Whether a workspace has more trunks than it may; its row is locked, so that several at once count each other's. */
export async function hasTooManyTrunks(tx: WorkspaceTx): Promise<boolean> {
  await sql`select from workspaces where id = ${tx.workspaceId} for no key update`.execute(tx.db);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from trunks where workspace_id = ${tx.workspaceId}`.execute(tx.db);
  return rows[0]!.count > MOST_TRUNKS;
}

/** Adds a trunk that is to be checked; nothing where the workspace has one of the same identity. */
export async function insertTrunk(tx: WorkspaceTx, row: TrunkColumns & NewTrunk): Promise<TrunkRow | undefined> {
  const inserted = await tx.db
    .insertInto('trunks')
    .values({ ...row, workspace_id: tx.workspaceId, status: 'paused', reason: 'unchecked' })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (inserted) {
    await tx.db.insertInto('trunk_health').values({ workspace_id: tx.workspaceId, trunk_id: row.id }).execute();
  }
  return inserted;
}

/** Changes a trunk that the transaction holds. */
export function changeTrunk(tx: WorkspaceTx, id: string, changes: TrunkColumns): Promise<TrunkRow> {
  return tx.db
    .updateTable('trunks')
    .set(changes)
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Moves a trunk that the transaction holds to another status. Throws where the state table knows no such move. */
export function moveTrunk(
  tx: WorkspaceTx,
  { id }: Pick<TrunkRow, 'id'>,
  status: TrunkStatus,
  changes: TrunkColumns,
): Promise<TrunkRow> {
  const { reason } = changes;
  tx.note(
    { workspace: toId('ws', tx.workspaceId), trunk: toId('trk', id), ...(reason && { reason }) },
    `a trunk is ${status}`,
  );
  return tx.db
    .updateTable('trunks')
    .set({ ...changes, status })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where(sql<SqlBool>`status in ${from(trunkTransitions, status)}`)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Writes the event of a trunk's change: the trunk as it is now, under its revision. */
export async function recordTrunk(
  tx: WorkspaceTx,
  id: string,
  now: Date,
  auditEntry?: AuditEntry,
): Promise<CountedTrunk> {
  const row = (await findTrunk(tx, id))!;
  const { revision } = row;
  await record(tx, { resourceId: id, revision, type: 'trunk.updated', data: shapeTrunk(row, now), now, auditEntry });
  return row;
}

/** One page of trunks, and how many there are on all pages. */
export const trunkPage = (tx: WorkspaceTx, page: PageQuery): Promise<Page<CountedTrunk>> =>
  readPage(tx, page, {
    columns: counted,
    from: withHealth,
    where: [sql`trunks.workspace_id = ${tx.workspaceId}`],
    search: ['trunks.termination_url', 'trunks.username'],
    order: ['trunks.created_at', 'trunks.id'],
  });

export const firstDueTrunk: DueTime = sql`
  select due_at from trunks where due_at is not null order by due_at limit 1`;

/** Takes the trunks that are to be checked, and puts them off until `next`: whoever dies over them leaves them to others then. */
export async function takeDueTrunks(tx: EngineTx, now: Date, next: Date, limit: number): Promise<TrunkRow[]> {
  const due = await sql<{ workspace_id: string; id: string }>`
    select workspace_id, id from trunks where due_at <= ${now}
    order by due_at limit ${limit} for update skip locked`.execute(tx.db);
  if (due.rows.length === 0) return [];
  const { rows } = await sql<TrunkRow>`
    update trunks set due_at = ${next}
    where (workspace_id, id) in (
      select * from unnest(${due.rows.map((row) => row.workspace_id)}::uuid[], ${due.rows.map((row) => row.id)}::uuid[])
    ) returning *`.execute(tx.db);
  return rows;
}

const trunksOf = (tx: WorkspaceTx) => tx.db.selectFrom('trunks').selectAll().where('workspace_id', '=', tx.workspaceId);

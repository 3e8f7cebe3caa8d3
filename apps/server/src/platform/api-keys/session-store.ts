import { type RawBuilder, sql } from 'kysely';
import type { Database, EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { inChunks, MOST_AT_ONCE } from '../../foundation/values/in-chunks.ts';
import { type Role, rolePermissions } from '../members/roles.ts';
import { hashKey } from './key.ts';
import type { StoredKey, StoredSession } from './key-store.ts';
import { IDLE_MS, MOST_SESSIONS } from './session.ts';

/** A session with the name of the key, or the address of the member, that it stands for. */
export type SessionRow = Omit<Row<'sessions'>, 'hash'> & { key_name: string | null; email: string | null };

/** Whom a request stands for, with names. What is of a session is null where there is none. */
export interface CurrentRow {
  workspace_name: string;
  key_name: string | null;
  email: string | null;
  role: Role | null;
  created_at: Date | null;
  expires_at: Date | null;
}

/** What a session may: its key's permissions, or those of its member's role. */
interface Rights {
  permissions: readonly string[] | null;
  role: Role | null;
}
const permissionsOf = ({ permissions, role }: Rights) => permissions ?? rolePermissions[role!];

/** Sessions `s` with their keys `k` and members `m`. */
const withWhose = sql`sessions s
  left join api_keys k on k.workspace_id = s.workspace_id and k.id = s.api_key_id
  left join members m on m.workspace_id = s.workspace_id and m.id = s.member_id`;

const holds = (now: Date) => sql`s.expires_at > ${now} and s.last_used_at > ${new Date(now.getTime() - IDLE_MS)}`;

/** The sessions whose secrets have these hashes (hex), of whichever workspace, as the keys and members that they stand for. */
export async function findSessions(tx: EngineTx, hashes: readonly string[]): Promise<StoredSession[]> {
  const { rows } = await sql<Row<'sessions'> & Rights>`
    select s.*, k.permissions, m.role from ${withWhose}
    where s.hash = any(${hashes.map((hash) => Buffer.from(hash, 'hex'))}::bytea[])
      and k.revoked_at is null and m.removed_at is null`.execute(tx.db);
  return rows.map((row) => ({
    hash: row.hash.toString('hex'),
    keyId: (row.api_key_id ?? row.member_id)!,
    ...(row.member_id !== null && { memberId: row.member_id }),
    sessionId: row.id,
    workspaceId: row.workspace_id,
    permissions: permissionsOf(row),
    expiresAt: new Date(Math.min(row.expires_at.getTime(), row.last_used_at.getTime() + IDLE_MS)),
    lastUsedAt: row.last_used_at,
  }));
}

/** Notes the use of a session, and with it that of its key, unless a use since `notSince` stands already. */
export async function touchSession(tx: EngineTx, key: StoredKey, now: Date, notSince: Date): Promise<void> {
  await sql`
    with touched as (
      update sessions set last_used_at = ${now}
      where workspace_id = ${key.workspaceId} and id = ${key.sessionId} and last_used_at <= ${notSince})
    update api_keys set last_used_at = ${now}
    where workspace_id = ${key.workspaceId} and id = ${key.keyId} and coalesce(last_used_at <= ${notSince}, true)`.execute(
    tx.db,
  );
}

/** Keeps a session, by the hash of its secret; the oldest of its key or member goes where there are too many. */
export async function insertSession(
  tx: WorkspaceTx,
  session: {
    id: string;
    secret: string;
    /** UUID of the key or the member. */
    of: { apiKeyId: string } | { memberId: string };
    address: string;
    expiresAt: Date;
    now: Date;
  },
): Promise<void> {
  const { apiKeyId, memberId } = { apiKeyId: null, memberId: null, ...session.of };
  const whose = apiKeyId === null ? sql`member_id = ${memberId}` : sql`api_key_id = ${apiKeyId}`;
  await sql`
    delete from sessions where workspace_id = ${tx.workspaceId} and id in (
      select id from sessions where workspace_id = ${tx.workspaceId} and ${whose}
      order by created_at desc offset ${sql.lit(MOST_SESSIONS - 1)})`.execute(tx.db);
  await tx.db
    .insertInto('sessions')
    .values({
      workspace_id: tx.workspaceId,
      id: session.id,
      hash: Buffer.from(hashKey(session.secret), 'hex'),
      api_key_id: apiKeyId,
      member_id: memberId,
      address: session.address,
      created_at: session.now,
      last_used_at: session.now,
      expires_at: session.expiresAt,
    })
    .execute();
}

/** One page of the sessions that hold, by when they began, and how many there are on all pages. */
export const sessionPage =
  (now: Date) =>
  (tx: WorkspaceTx, page: PageQuery): Promise<Page<SessionRow>> =>
    readPage(tx, page, {
      columns: sql`s.*, k.name as key_name, m.email`,
      from: withWhose,
      where: [sql`s.workspace_id = ${tx.workspaceId}`, holds(now)],
      search: [],
      order: ['s.created_at', 's.id'],
    });

/** A session that has ended: the hash of its secret (hex), what it was permitted, and until when. */
export interface EndedSession {
  hash: string;
  permissions: readonly string[];
  expiresAt: Date;
}

/** Ends a session that holds; nothing where there is none. */
export async function deleteSession(tx: WorkspaceTx, id: string, now: Date): Promise<EndedSession | undefined> {
  const { rows } = await sql<{ hash: Buffer; expires_at: Date } & Rights>`
    delete from sessions s where workspace_id = ${tx.workspaceId} and id = ${id} and ${holds(now)}
    returning hash, expires_at,
      (select permissions from api_keys k where k.workspace_id = s.workspace_id and k.id = s.api_key_id) as permissions,
      (select role from members m where m.workspace_id = s.workspace_id and m.id = s.member_id) as role`.execute(tx.db);
  return (
    rows[0] && {
      hash: rows[0].hash.toString('hex'),
      permissions: permissionsOf(rows[0]),
      expiresAt: rows[0].expires_at,
    }
  );
}

/** Ends the sessions of a key. */
export async function deleteSessionsOf(tx: WorkspaceTx, apiKeyId: string): Promise<void> {
  await sql`delete from sessions where workspace_id = ${tx.workspaceId} and api_key_id = ${apiKeyId}`.execute(tx.db);
}

/** The names of whom a request stands for, and the times of its session. */
export async function readCurrent(
  tx: WorkspaceTx,
  { keyId, sessionId }: { keyId: string; sessionId: string | undefined },
): Promise<CurrentRow | undefined> {
  const { rows } = await currentOf(tx.workspaceId, keyId, sessionId).execute(tx.db);
  return rows[0];
}

const currentOf = (workspaceId: string, keyId: string, sessionId: string | undefined): RawBuilder<CurrentRow> => sql`
  select w.name as workspace_name, k.name as key_name, m.email, m.role, s.created_at, s.expires_at from workspaces w
  left join api_keys k on k.workspace_id = w.id and k.id = ${keyId}
  left join members m on m.workspace_id = w.id and m.id = ${keyId}
  left join sessions s on s.workspace_id = w.id and s.id = ${sessionId ?? null}
  where w.id = ${workspaceId}`;

/** Deletes the sessions whose time is over, in small transactions. Servers may do it at once. */
export async function deleteOldSessions(database: Database, now: Date, signal?: AbortSignal): Promise<void> {
  await inChunks(async () => {
    const { numAffectedRows } = await database.inEngine(({ db }) =>
      sql`
        delete from sessions where ctid = any(array(
          select ctid from sessions where expires_at <= ${now}
          order by expires_at limit ${sql.lit(MOST_AT_ONCE)} for update skip locked))`.execute(db),
    );
    return Number(numAffectedRows) === MOST_AT_ONCE;
  }, signal);
}

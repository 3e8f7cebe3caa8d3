import { sql } from 'kysely';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { newKey } from './key.ts';
import { anyKeyExists, insertKey } from './key-store.ts';

/** Any number that no other advisory lock of ours has: one server at a time makes the first key. */
const FIRST_KEY_LOCK = 7_210_001;

/**
 * Makes the first workspace and its key, with every permission, where there is no key yet: `bootstrapKey` if given,
 * else a new one. Returns a new one, to be shown once; nothing where there was a key or one was given.
 */
export function ensureFirstKey(
  database: Database,
  clock: Clock,
  bootstrapKey: string | undefined,
): Promise<string | undefined> {
  return database.inEngine(async (tx) => {
    await sql`select pg_advisory_xact_lock(${FIRST_KEY_LOCK})`.execute(tx.db);
    if (await anyKeyExists(tx)) return undefined;
    const key = bootstrapKey ?? newKey();
    const now = clock.now();
    const workspaceId = await workspaceOf(tx, 'Default', now);
    await insertKey(tx, { workspaceId, id: newUuid(), key, name: 'First key', permissions: ['*'], now });
    return bootstrapKey ? undefined : key;
  });
}

/** Those of a workspace in which nobody has set any: 21:00 to 8:00, wherever a phone really rings. */
const defaultQuietHours = { quiet_hours_start: 21 * 60, quiet_hours_end: 8 * 60, quiet_hours_are_default: true };

export interface KeyRequest {
  /** The workspace's name; made where there is none of it. */
  workspace: string;
  name: string;
  permissions: readonly string[];
}

/**
 * Makes a key, as `trunkline-server keys create` does. Returns it; it can't be read again.
 * @param onSecond what is done as the second workspace is made
 */
export function createKey(
  database: Database,
  clock: Clock,
  request: KeyRequest,
  onSecond?: (tx: EngineTx) => Promise<void>,
): Promise<string> {
  return database.inEngine(async (tx) => {
    await sql`select pg_advisory_xact_lock(${FIRST_KEY_LOCK})`.execute(tx.db);
    const key = newKey();
    const now = clock.now();
    const workspaceId = await workspaceOf(tx, request.workspace, now, onSecond);
    await insertKey(tx, { workspaceId, id: newUuid(), key, name: request.name, permissions: request.permissions, now });
    return key;
  });
}

async function workspaceOf(
  tx: EngineTx,
  name: string,
  now: Date,
  onSecond?: (tx: EngineTx) => Promise<void>,
): Promise<string> {
  const found = await tx.db.selectFrom('workspaces').select('id').where('name', '=', name).executeTakeFirst();
  if (found) return found.id;
  const id = newUuid();
  await tx.db
    .insertInto('workspaces')
    .values({ id, name, ...defaultQuietHours, created_at: now, updated_at: now })
    .execute();
  // From the second workspace on, the operator says who may call which carrier.
  const { numAffectedRows } = await sql`
    update installation set trunks_granted_since = ${now}
    where trunks_granted_since is null and (select count(*) from workspaces) > 1`.execute(tx.db);
  if (numAffectedRows) await onSecond?.(tx);
  return id;
}

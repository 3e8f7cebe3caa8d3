import { sql } from 'kysely';
import type { EngineTx } from '../foundation/database/database.ts';
import { fromId, toId } from '../foundation/values/ids.ts';

/** Why a command does nothing, for the operator. */
export class CommandRefused extends Error {}

/**
 * The UUID of the workspace of a name, or of an ID, since a workspace's keys may change its name. Throws `CommandRefused`.
 * @param named a name, or `ws_…`
 */
export async function workspaceNamed(tx: EngineTx, named: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`select id from workspaces where name = ${named}`.execute(tx.db);
  if (rows.length === 1) return rows[0]!.id;
  const id = /^ws_[0-9a-f]{32}$/.test(named) ? fromId(named) : undefined;
  if (id && (await sql`select from workspaces where id = ${id}`.execute(tx.db)).rows.length > 0) return id;
  if (rows.length === 0) throw new CommandRefused(`There is no workspace ${named}.`);
  throw new CommandRefused(`Several are called ${named}: ${rows.map((row) => toId('ws', row.id)).join(', ')}.`);
}

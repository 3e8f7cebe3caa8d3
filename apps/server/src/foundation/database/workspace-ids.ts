import type { EngineTx } from './database.ts';

/** The UUIDs of all workspaces, for loops that go from one to the next. */
export async function workspaceIds({ db }: EngineTx): Promise<string[]> {
  const rows = await db.selectFrom('workspaces').select('id').orderBy('id').execute();
  return rows.map(({ id }) => id);
}

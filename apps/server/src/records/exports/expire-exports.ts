import { sql } from 'kysely';
import type { ExportDeps } from './deps.ts';
import { eraseFile } from './erase-file.ts';
import { dueExports, expireExport } from './store.ts';

const MOST = 200;
/** How long it can be read that an export was there. */
const REMEMBERED_MS = 30 * 24 * 3600 * 1000;

/** Deletes the files of exports whose time is over, and forgets those that have long been over. Servers may do it at once. */
export async function expireExports(deps: ExportDeps, signal: AbortSignal): Promise<void> {
  const { database, clock } = deps;
  const now = clock.now();
  for (const { workspace_id, id } of await database.inEngine((tx) => dueExports(tx, now, MOST))) {
    if (signal.aborted) return;
    await database.inWorkspace(workspace_id, async (tx) => {
      const file = await expireExport(tx, id);
      if (file) await eraseFile(deps, tx, file);
    });
  }
  await database.inEngine((tx) =>
    sql`
      delete from exports where ctid = any(array(select ctid from exports
        where status in ('failed', 'expired') and created_at < ${new Date(now.getTime() - REMEMBERED_MS)}
        limit ${sql.lit(MOST)} for update skip locked))`.execute(tx.db),
  );
}

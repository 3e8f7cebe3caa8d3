import { tellOptOuts } from '../../platform/installation/tell-opt-outs.ts';
import type { ContactListDeps } from './deps.ts';

/** How many numbers are told at once. */
const CHUNK = 1000;

/**
 * Has the witness know whom nobody is to call since an upload into a list of the type `dnd` was imported.
 * @param since the guard's `doubts` before that
 */
export async function tellOfUpload(
  { database, clock, guard }: Pick<ContactListDeps, 'database' | 'clock' | 'guard'>,
  workspaceId: string,
  { uploadId, since }: { uploadId: string; since: number },
): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await database.inWorkspace(workspaceId, ({ db }) =>
      db
        .selectFrom('contact_list_entries')
        .select(['row_number', 'phone_number'])
        .where('workspace_id', '=', workspaceId)
        .where('upload_id', '=', uploadId)
        .where('row_number', '>', after)
        .orderBy('row_number')
        .limit(CHUNK)
        .execute(),
    );
    const numbers = rows.map((row) => row.phone_number);
    if (numbers.length > 0) await tellOptOuts(guard, workspaceId, numbers, { at: clock.now(), since });
    if (rows.length < CHUNK) return;
    after = rows.at(-1)!.row_number;
  }
}

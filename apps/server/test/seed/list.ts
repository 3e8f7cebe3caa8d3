import type { Database } from '../../src/foundation/database/database.ts';
import { newUuid } from '../../src/foundation/values/ids.ts';
import { type Given, insertRows } from './rows.ts';

export type SeededEntry = Given<'contact_list_entries'>;

/** A contact list with one upload, ready with these entries unless said otherwise. Answers its UUID. */
export const seedList = async (
  database: Database,
  workspaceId: string,
  entries: SeededEntry[],
  given: Given<'contact_lists'> = {},
): Promise<string> => (await seedUploadedList(database, workspaceId, entries, { list: given })).listId;

/** The same, where a test has something to say of the upload. */
export async function seedUploadedList(
  database: Database,
  workspaceId: string,
  entries: SeededEntry[],
  given: { list?: Given<'contact_lists'>; upload?: Given<'contact_list_uploads'> } = {},
): Promise<{ listId: string; uploadId: string }> {
  const [listId, uploadId] = [newUuid(), newUuid()];
  const workspace = { workspace_id: workspaceId };
  const list = { ...workspace, id: listId, total_entries: entries.length, ...given.list };
  const has_do_not_call = entries.some((entry) => entry.do_not_call);
  const upload = { ...workspace, id: uploadId, list_id: listId, has_do_not_call, ...given.upload };
  await database.inEngine(async ({ db }) => {
    await insertRows(db, 'contact_lists', [list]);
    await insertRows(db, 'contact_list_uploads', [upload]);
    const rows = entries.map((entry, at) => ({ ...workspace, upload_id: uploadId, row_number: at + 2, ...entry }));
    await insertRows(db, 'contact_list_entries', rows);
  });
  return { listId, uploadId };
}

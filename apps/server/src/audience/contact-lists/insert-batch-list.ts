import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { insertList } from './store.ts';

/** A list that the server makes for a batch: it is ready at once, as if a file with these entries had been imported. */
export interface BatchList {
  /** UUID. */
  id: string;
  name: string;
  storageKey: string;
  /** In whose national form its numbers were sent; none where all were to be in E.164. */
  defaultCountry?: string | undefined;
  /** Each number once, E.164 without the plus. */
  entries: readonly { toNumber: number; name: string | null; timezone: string | null }[];
  now: Date;
}

export async function insertBatchList(tx: WorkspaceTx, list: BatchList): Promise<void> {
  const { id, name, storageKey, defaultCountry, entries, now } = list;
  const [uploadId, count] = [newUuid(), entries.length];
  const times = { created_at: now, updated_at: now };
  const made = { status: 'ready', default_country: defaultCountry ?? null, total_entries: count, ...times } as const;
  await insertList(tx, { id, name, type: 'batch', ...made });
  await together(tx, [
    () =>
      tx.db
        .insertInto('contact_list_uploads')
        .values({
          workspace_id: tx.workspaceId,
          id: uploadId,
          list_id: id,
          file_name: name,
          storage_key: storageKey,
          status: sql`'processed'`,
          url_expires_at: now,
          processed_at: now,
          total_rows: count,
          valid_rows: count,
          imported_rows: count,
          ...times,
        })
        .execute(),
    sql`
      insert into contact_list_entries (workspace_id, upload_id, phone_number, row_number, name, timezone, "values")
      select ${tx.workspaceId}, ${uploadId}, x.phone_number, x.at, x.name, x.timezone, '{}'
      from unnest(${entries.map((entry) => entry.toNumber)}::bigint[], ${entries.map((entry) => entry.name)}::text[],
        ${entries.map((entry) => entry.timezone)}::text[]) with ordinality as x (phone_number, name, timezone, at)`,
  ]);
}

import { sql } from 'kysely';
import type { Database, EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import { whileQuiet } from '../../platform/jobs/quiet.ts';
import type { KnowledgeBaseDeps } from './deps.ts';
import { fileKey } from './document.ts';

/** An upload lasts an hour at most (`foundation/http/listen.ts`); its files are nobody's after that. */
const ABANDONED_AFTER_SECONDS = 2 * 3600;
const SWEEP_MS = 2000;
const MOST = 100;
const PASSAGES_AT_ONCE = 5000;

/**
 * Has file and passages of documents erased, soon after the transaction commits. Nothing of it is lost when a server
 * dies: what is to be erased stands in a row until it is gone.
 */
export async function eraseLater(tx: WorkspaceTx, documentIds: string[], afterSeconds = 0): Promise<void> {
  await sql`
    insert into knowledge_base_erasures (workspace_id, document_id, due_at)
    select ${tx.workspaceId}, id, clock_timestamp() + make_interval(secs => ${afterSeconds})
    from unnest(${documentIds}::uuid[]) as id`.execute(tx.db);
}

/** Before a file is stored: it is erased in two hours unless a document claims it. */
export const eraseUnlessClaimed = (tx: WorkspaceTx, documentId: string): Promise<void> =>
  eraseLater(tx, [documentId], ABANDONED_AFTER_SECONDS);

/** Claims files for the documents that this transaction adds. @returns whether all of them are still there */
export async function claimFiles(tx: WorkspaceTx, documentIds: string[]): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('knowledge_base_erasures')
    .where('workspace_id', '=', tx.workspaceId)
    .where('document_id', 'in', documentIds)
    .where(sql<boolean>`due_at > clock_timestamp()`)
    .executeTakeFirst();
  return Number(numDeletedRows) === documentIds.length;
}

/** Has files erased that no document claimed, now instead of in two hours. */
export async function eraseUnclaimed(tx: WorkspaceTx, documentIds: string[]): Promise<void> {
  await sql`
    update knowledge_base_erasures set due_at = clock_timestamp()
    where workspace_id = ${tx.workspaceId} and document_id = any(${documentIds}::uuid[])`.execute(tx.db);
}

/** Begins to erase, in this process. Servers may do it at once. */
export const startErasing = (deps: KnowledgeBaseDeps): Repeating =>
  every(SWEEP_MS, (signal) => eraseDue(deps, signal), {
    name: 'erase documents',
    log: deps.log,
    asleep: whileQuiet(deps.database),
  });

/** @returns whether there may be more to erase */
async function eraseDue({ database, objects }: KnowledgeBaseDeps, signal: AbortSignal): Promise<boolean> {
  const due = await database.inEngine(dueErasures);
  for (const { workspace_id: workspaceId, document_id: id } of due) {
    while (!signal.aborted && (await erasePassages(database, workspaceId, id)) === PASSAGES_AT_ONCE);
    if (signal.aborted) return false;
    await objects.delete(fileKey(id));
    await database.inWorkspace(workspaceId, (tx) =>
      tx.db
        .deleteFrom('knowledge_base_erasures')
        .where('workspace_id', '=', workspaceId)
        .where('document_id', '=', id)
        .execute(),
    );
  }
  return due.length === MOST;
}

/** The documents that are to be erased, the longest due first. The time is asked for once, or no index would serve. */
export const dueErasures = ({ db }: EngineTx) =>
  db
    .selectFrom('knowledge_base_erasures')
    .select(['workspace_id', 'document_id'])
    .where(sql<boolean>`due_at <= (select clock_timestamp())`)
    .orderBy('due_at')
    .limit(MOST)
    .execute();

async function erasePassages(database: Database, workspaceId: string, documentId: string): Promise<number> {
  const { numAffectedRows } = await database.inWorkspace(workspaceId, (tx) =>
    sql`
      delete from knowledge_base_passages
      where workspace_id = ${workspaceId} and document_id = ${documentId} and position = any(array(
        select position from knowledge_base_passages
        where workspace_id = ${workspaceId} and document_id = ${documentId}
        order by position limit ${sql.lit(PASSAGES_AT_ONCE)}))`.execute(tx.db),
  );
  return Number(numAffectedRows);
}

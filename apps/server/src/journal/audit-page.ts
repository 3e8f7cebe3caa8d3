import { type SqlBool, sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { containing, type PageQuery, pageRows } from '../database/page.ts';
import type { Row } from '../database/schema.ts';

/** An audit entry with the name of its key, which may be revoked by now. */
export type AuditRow = Row<'audit_log'> & { key_name: string };

/** Which entries of a workspace are wanted. */
export interface AuditQuery extends PageQuery {
  /** UUID. */
  keyId: string | undefined;
  action: string | undefined;
  /** As clients see it. */
  resourceId: string | undefined;
  /** RFC 3339, included. */
  createdAfter: string | undefined;
  /** RFC 3339, not included. */
  createdBefore: string | undefined;
}

/** One page of the audit log, by time, and how many entries there are on all pages. */
export async function auditPage(tx: WorkspaceTx, page: AuditQuery): Promise<{ rows: AuditRow[]; totalCount: number }> {
  const pattern = page.searchText === undefined ? undefined : containing(page.searchText);
  const found = tx.db
    .selectFrom('audit_log as a')
    .innerJoin('api_keys as k', (join) =>
      join.onRef('k.workspace_id', '=', 'a.workspace_id').onRef('k.id', '=', 'a.key_id'),
    )
    .where('a.workspace_id', '=', tx.workspaceId)
    .$if(page.keyId !== undefined, (query) => query.where('a.key_id', '=', page.keyId!))
    .$if(page.action !== undefined, (query) => query.where('a.action', '=', page.action!))
    .$if(page.resourceId !== undefined, (query) => query.where('a.resource_id', '=', page.resourceId!))
    .$if(page.createdAfter !== undefined, (query) => query.where('a.created_at', '>=', new Date(page.createdAfter!)))
    .$if(page.createdBefore !== undefined, (query) => query.where('a.created_at', '<', new Date(page.createdBefore!)))
    .$if(pattern !== undefined, (query) =>
      query.where(
        sql<SqlBool>`(a.action ilike ${pattern} or a.resource_type ilike ${pattern} or a.resource_id ilike ${pattern}
          or a.request_id ilike ${pattern} or k.name ilike ${pattern})`,
      ),
    );
  const { limit, offset } = pageRows(page);
  const rows = await found
    .selectAll('a')
    .select('k.name as key_name')
    .orderBy('a.created_at', page.order)
    .orderBy('a.id', page.order)
    .limit(limit)
    .offset(offset)
    .execute();
  const { count } = await found.select((each) => each.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return { rows, totalCount: Number(count) };
}

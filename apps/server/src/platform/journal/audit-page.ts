import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Row } from '../../foundation/database/schema.ts';

/** An audit entry with the name of its key, or the address of its member, who may be gone by now; a call's agent has neither. */
export type AuditRow = Row<'audit_log'> & { key_name: string | null; member_email: string | null };

/** Which entries of a workspace are wanted. */
export interface AuditQuery extends PageQuery {
  /** UUID. */
  keyId: string | undefined;
  /** Whether who asks may read members' addresses, and so look for them. */
  seesMembers: boolean;
  /** UUID. */
  memberId: string | undefined;
  action: string | undefined;
  /** As clients see it. */
  resourceId: string | undefined;
  /** RFC 3339, included. */
  createdAfter: string | undefined;
  /** RFC 3339, not included. */
  createdBefore: string | undefined;
}

/** One page of the audit log, by time, and how many entries there are on all pages. */
export const auditPage = (tx: WorkspaceTx, page: AuditQuery): Promise<Page<AuditRow>> =>
  readPage(tx, page, {
    columns: sql`a.*, k.name as key_name, ${page.seesMembers ? sql`m.email` : sql`null`} as member_email`,
    from: sql`audit_log a left join api_keys k on k.workspace_id = a.workspace_id and k.id = a.key_id
      left join members m on m.workspace_id = a.workspace_id and m.id = a.member_id`,
    where: [
      sql`a.workspace_id = ${tx.workspaceId}`,
      page.keyId !== undefined && sql`a.key_id = ${page.keyId}`,
      page.memberId !== undefined && sql`a.member_id = ${page.memberId}`,
      page.action !== undefined && sql`a.action = ${page.action}`,
      page.resourceId !== undefined && sql`a.resource_id = ${page.resourceId}`,
      page.createdAfter !== undefined && sql`a.created_at >= ${new Date(page.createdAfter)}`,
      page.createdBefore !== undefined && sql`a.created_at < ${new Date(page.createdBefore)}`,
    ],
    search: [
      'a.action',
      'a.resource_type',
      'a.resource_id',
      'a.request_id',
      'k.name',
      ...(page.seesMembers ? ['m.email'] : []),
    ],
    order: ['a.created_at', 'a.id'],
  });

import type { Database } from '../../foundation/database/database.ts';
import { pageAnswer, pageOf } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { lacking } from '../../foundation/values/permissions.ts';
import { ok } from '../../foundation/values/success.ts';
import { type AuditRow, auditPage } from './audit-page.ts';

/** The operation of the tag "Audit log". */
export function auditLogOperations(database: Database) {
  return {
    listAuditLog: async ({ query }, { workspaceId, key }) => {
      const page = pageOf(query);
      const { apiKeyId, memberId: member, action, resourceId, createdAfter, createdBefore } = query;
      const keyId = apiKeyId === undefined ? undefined : fromId(apiKeyId);
      const memberId = member === undefined ? undefined : fromId(member);
      const seesMembers = lacking(key.permissions, ['members:read']).length === 0;
      const wanted = { ...page, keyId, memberId, seesMembers, action, resourceId, createdAfter, createdBefore };
      const found = await database.inSnapshot(workspaceId, (tx) => auditPage(tx, wanted));
      return ok(pageAnswer(page, found, present));
    },
  } satisfies Partial<Handlers>;
}

const present = (row: AuditRow) => ({
  id: toId('aud', row.id),
  ...(row.key_id !== null && { apiKeyId: toId('key', row.key_id) }),
  ...(row.key_name !== null && { apiKeyName: row.key_name }),
  ...(row.member_id !== null && { memberId: toId('mem', row.member_id) }),
  ...(row.member_email !== null && { memberEmail: row.member_email }),
  action: row.action,
  resourceType: row.resource_type,
  resourceId: row.resource_id,
  address: row.address,
  requestId: row.request_id,
  createdAt: row.created_at.toISOString(),
});

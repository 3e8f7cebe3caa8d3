import type { Database } from '../../foundation/database/database.ts';
import { pageAnswer, pageOf } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { ok } from '../../foundation/values/success.ts';
import { type AuditRow, auditPage } from './audit-page.ts';

/** The operation of the tag "Audit log". */
export function auditLogOperations(database: Database) {
  return {
    listAuditLog: async ({ query }, { workspaceId }) => {
      const page = pageOf(query);
      const { apiKeyId, action, resourceId, createdAfter, createdBefore } = query;
      const keyId = apiKeyId === undefined ? undefined : fromId(apiKeyId);
      const wanted = { ...page, keyId, action, resourceId, createdAfter, createdBefore };
      const found = await database.inSnapshot(workspaceId, (tx) => auditPage(tx, wanted));
      return ok(pageAnswer(page, found, present));
    },
  } satisfies Partial<Handlers>;
}

const present = (row: AuditRow) => ({
  id: toId('aud', row.id),
  ...(row.key_id !== null && { apiKeyId: toId('key', row.key_id) }),
  ...(row.key_name !== null && { apiKeyName: row.key_name }),
  action: row.action,
  resourceType: row.resource_type,
  resourceId: row.resource_id,
  address: row.address,
  requestId: row.request_id,
  createdAt: row.created_at.toISOString(),
});

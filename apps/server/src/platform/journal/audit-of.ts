import type { AuditEntry } from './record.ts';

/** Fills in who asks: the audit entry of an action on a resource, which is named as clients see it. */
export type AuditOf = (action: string, resourceType: string, resourceId: string) => AuditEntry;

/** The audit entries of one request. */
export const auditOf =
  (request: { key: { id: string }; callId?: string | undefined; address: string; requestId: string }): AuditOf =>
  (action, resourceType, resourceId) => ({
    keyId: request.callId === undefined ? request.key.id : null,
    action,
    resourceType,
    resourceId,
    address: request.address,
    requestId: request.requestId,
  });

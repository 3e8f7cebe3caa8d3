import type { AuditEntry } from './record.ts';

/** Fills in who asks: the audit entry of an action on a resource, which is named as clients see it. */
export type AuditOf = (action: string, resourceType: string, resourceId: string) => AuditEntry;

/** Who asks, as the audit log names them. */
export interface Asker {
  /** The key's UUID, or that of what stands in its place. */
  key: { id: string };
  callId?: string | undefined;
  memberId?: string | undefined;
  address: string;
  requestId: string;
}

/** The audit entries of one request. */
export const auditOf =
  (request: Asker): AuditOf =>
  (action, resourceType, resourceId) => ({
    keyId: request.callId === undefined && request.memberId === undefined ? request.key.id : null,
    memberId: request.memberId ?? null,
    action,
    resourceType,
    resourceId,
    address: request.address,
    requestId: request.requestId,
  });

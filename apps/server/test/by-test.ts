import type { AuditEntry } from '../src/platform/journal/record.ts';

/** The audit entry of some key. */
export const byTest = (resourceId: string): AuditEntry => ({
  keyId: '00000000-0000-0000-0000-000000000000',
  memberId: null,
  action: 'campaign.test',
  resourceType: 'campaign',
  resourceId,
  address: '',
  requestId: '',
});

import type { Row } from '../../foundation/database/schema.ts';
import { toId } from '../../foundation/values/ids.ts';

export type MemberRow = Row<'members'>;

/** A member as clients see it. */
export const presentMember = (row: MemberRow) => ({
  id: toId('mem', row.id),
  email: row.email,
  role: row.role,
  status: row.signed_in_at === null ? ('invited' as const) : ('active' as const),
  ...(row.signed_in_at && { lastSignedInAt: row.signed_in_at.toISOString() }),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

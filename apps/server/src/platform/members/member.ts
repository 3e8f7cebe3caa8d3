import type { Row } from '../../foundation/database/schema.ts';
import { toId } from '../../foundation/values/ids.ts';

export type MemberRow = Row<'members'>;

/**
 * An address of mail as it is kept and compared: in small letters, of ASCII alone. Others are left, as some of them have the
 * same small letter as another (the Kelvin sign that of K), whose address that would be.
 */
export const keptAddress = (email: string): string => email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

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

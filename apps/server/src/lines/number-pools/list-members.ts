import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { utcDay } from '../../foundation/values/clock.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { joinTrunk, type PhoneNumberRow, trunkColumns } from '../phone-numbers/phone-number.ts';
import { presentNumber } from '../phone-numbers/present-number.ts';
import { whyNotCallable } from '../phone-numbers/why-not-from.ts';

type Member = components['schemas']['NumberPoolMember'];

type MemberRow = PhoneNumberRow &
  Pick<Row<'number_usage'>, 'last_used_at' | 'day' | 'attempts' | 'answered' | 'failed' | 'cooling_until'> & {
    max_per_day: number | null;
    max_at_once: number | null;
    live: number;
  };

const from = sql`number_usage u join phone_numbers n on n.workspace_id = u.workspace_id and n.id = u.phone_number_id
  ${joinTrunk}`;
const isMember = ({ workspaceId }: WorkspaceTx, poolId: string) =>
  sql`u.workspace_id = ${workspaceId} and u.pool_id = ${poolId}`;

/** A pool's numbers, in the order in which they came to the workspace. */
export async function poolNumbers(tx: WorkspaceTx, poolId: string): Promise<PhoneNumberRow[]> {
  const { rows } = await sql<PhoneNumberRow>`
    select n.*, ${trunkColumns} from ${from} where ${isMember(tx, poolId)} order by n.created_at, n.id`.execute(tx.db);
  return rows;
}

/** One page of a pool's members, each with how it has fared today (UTC), and how many there are on all pages. */
export const memberPage = (tx: WorkspaceTx, poolId: string, page: PageQuery): Promise<Page<MemberRow>> =>
  readPage(tx, page, {
    columns: sql`n.*, ${trunkColumns}, u.last_used_at, u.day, u.attempts, u.answered, u.failed, u.cooling_until,
      p.max_calls_per_number_per_day as max_per_day, p.max_concurrent_per_number as max_at_once,
      (select count(*) from calls c where c.phone_number_id = n.id and c.ended_at is null) as live`,
    from: sql`${from} join number_pools p on p.workspace_id = u.workspace_id and p.id = u.pool_id`,
    where: [isMember(tx, poolId)],
    search: ['n.phone_number', 'n.friendly_name', 'n.label'],
    order: ['n.created_at', 'n.id'],
  });

/** A member as clients see it. */
export function presentMember(row: MemberRow, now: Date): Member {
  const { last_used_at: lastUsed, cooling_until: cooling } = row;
  const today = row.day === utcDay(now);
  const reason = whyPassedOver(row, now);
  return {
    ...presentNumber(row),
    health: {
      attempts: today ? row.attempts : 0,
      answered: today ? row.answered : 0,
      failed: today ? row.failed : 0,
      ...(lastUsed.getTime() > 0 && { lastUsedAt: lastUsed.toISOString() }),
      ...(cooling && cooling > now && { coolingUntil: cooling.toISOString() }),
      ...(reason && { reason }),
    },
  };
}

/** Why a pool calls from other members; nothing where it can call from this one. */
function whyPassedOver(row: MemberRow, now: Date): Member['health']['reason'] {
  const why = whyNotCallable(row);
  if (why) return why;
  if (row.cooling_until && row.cooling_until > now) return 'cooling';
  const { max_per_day: perDay, max_at_once: atOnce, attempts, day, live } = row;
  const isFull = (perDay !== null && day === utcDay(now) && attempts >= perDay) || (atOnce !== null && live >= atOnce);
  return isFull ? 'limit_reached' : undefined;
}

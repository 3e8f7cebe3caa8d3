import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';

export type NumberPool = components['schemas']['NumberPool'];

/** The most members that a pool has. */
export const MOST_MEMBERS = 1000;

/** A pool as the database keeps it. */
export type PoolRow = Row<'number_pools'>;

/** A pool with how many members it has. */
export interface CountedPool extends PoolRow {
  count: number;
}

/** A pool as clients see it. */
export function shapePool(row: CountedPool): NumberPool {
  const { description, max_calls_per_number_per_day: perDay, max_concurrent_per_number: atOnce } = row;
  return {
    id: toId('pool', row.id),
    name: row.name,
    ...(description !== null && { description }),
    count: row.count,
    ...(perDay !== null && { maxCallsPerNumberPerDay: perDay }),
    ...(atOnce !== null && { maxConcurrentPerNumber: atOnce }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

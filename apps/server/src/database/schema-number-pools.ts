import type { Generated } from 'kysely';

interface NumberPoolsTable {
  workspace_id: string;
  id: string;
  name: string;
  description: string | null;
  max_calls_per_number_per_day: number | null;
  max_concurrent_per_number: number | null;
  created_at: Date;
  updated_at: Date;
}

interface NumberUsageTable {
  workspace_id: string;
  phone_number_id: string;
  pool_id: string | null;
  country: string | null;
  /** The epoch where it never was. */
  last_used_at: Generated<Date>;
  /** UTC day, `YYYY-MM-DD`. */
  day: Generated<string>;
  attempts: Generated<number>;
  answered: Generated<number>;
  failed: Generated<number>;
  faults: Generated<number>;
  cooling_until: Date | null;
}

/** The tables of number pools. */
export interface NumberPoolTables {
  number_pools: NumberPoolsTable;
  number_usage: NumberUsageTable;
}

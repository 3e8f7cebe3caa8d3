import { asSuperuser } from '../postgres.ts';

/** What a statement of the server has touched since the last look. */
export interface Statement {
  text: string;
  times: number;
  /** Pages of tables and indexes, found in the buffers or read into them. */
  buffers: number;
  walBytes: number;
}

/** What a piece of work has touched. */
export interface Touched {
  statements: Statement[];
  /** Pages of each index. */
  indexes: Map<string, number>;
}

/** Settings of a PostgreSQL that counts statements, and fills empty tables without its log. */
export const COUNTING = {
  shared_preload_libraries: 'pg_stat_statements',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // What tidies up at its own time would be counted as pages of the indexes.
  autovacuum: 'off',
};

/** Until idle connections have told what they touched. */
export const COUNTS_LAG_MS = 11_000;

/** Begins to count. */
export const forget = (connectionString: string): Promise<unknown> =>
  asSuperuser(connectionString, 'select bench.pg_stat_statements_reset()', 'select pg_stat_reset()');

/** What the role of servers has touched since `forget`. */
export async function touched(connectionString: string): Promise<Touched> {
  const { statements, indexes } = await asSuperuser<{ statements: Statement[]; indexes: Record<string, number> }>(
    connectionString,
    `select
      (select coalesce(json_agg(s), '[]') from (
        select query as text, sum(calls)::float8 as times,
          sum(shared_blks_hit + shared_blks_read)::float8 as buffers, sum(wal_bytes)::float8 as "walBytes"
        from bench.pg_stat_statements
        where userid = 'trunkline'::regrole and dbid = (select oid from pg_database where datname = current_database())
        group by query) as s) as statements,
      (select json_object_agg(indexrelname, (idx_blks_hit + idx_blks_read)::float8) from pg_statio_user_indexes) as indexes`,
  );
  return { statements, indexes: new Map(Object.entries(indexes)) };
}

/** How many pages lie between the root and a row of each index, both included. */
export async function heightsOf(connectionString: string): Promise<Map<string, number>> {
  const { heights } = await asSuperuser<{ heights: Record<string, number> }>(
    connectionString,
    `select json_object_agg(c.relname, (bench.bt_metap(c.oid::regclass::text)).level + 1) as heights
      from pg_class c join pg_am a on a.oid = c.relam
      where c.relkind = 'i' and a.amname = 'btree' and c.relnamespace = 'public'::regnamespace`,
  );
  return new Map(Object.entries(heights));
}

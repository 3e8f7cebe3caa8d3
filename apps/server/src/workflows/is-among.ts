import { type RawBuilder, sql } from 'kysely';

/** The condition that `r` is one of these runs, by constant keys (engine.md, "Claims"). */
export const isAmong = (runs: readonly { workspace_id: string; id: string }[]): RawBuilder<boolean> =>
  sql`r.workspace_id = any(${[...new Set(runs.map((run) => run.workspace_id))]}::uuid[])
    and r.id = any(${runs.map((run) => run.id)}::uuid[])`;

import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type IdPrefix, toId } from '../../foundation/values/ids.ts';
import type { ErrorDetail } from '../../foundation/values/service-error.ts';

/** The most users that an error names. */
const MOST_NAMED = 5;

const prefixes = { campaign: 'cmp', batch: 'bat', call: 'room' } as const satisfies Record<string, IdPrefix>;

interface User {
  kind: keyof typeof prefixes;
  id: string;
  name: string;
}

/**
 * The active campaigns and batches, and the calls that wait, that use a number, a pool or an agent, as details of the error
 * that says so: the oldest few.
 * @param column what names it in their rows
 */
export async function detailsOfUse(
  tx: WorkspaceTx,
  column: 'agent_id' | 'number_pool_id' | 'phone_number_id',
  value: string,
): Promise<ErrorDetail[]> {
  const { rows } = await sql<User>`
    (select kind, id, name from campaigns
      where workspace_id = ${tx.workspaceId} and ${sql.ref(column)} = ${value}
        and status in ('scheduled', 'running', 'paused') order by id limit ${sql.lit(MOST_NAMED)})
    union all
    (select 'call', id, '' from call_intents
      where workspace_id = ${tx.workspaceId} and ${sql.ref(column)} = ${value} and next_attempt_at is not null
      order by id limit ${sql.lit(MOST_NAMED)})
    limit ${sql.lit(MOST_NAMED)}`.execute(tx.db);
  return rows.map(({ kind, id, name }) => {
    const named = [kind, ...(name ? [`"${name}"`] : []), `(${toId(prefixes[kind], id)})`].join(' ');
    return { path: '/path/id', message: `is used by the ${named}` };
  });
}

import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import type { Person } from './spellings.ts';
import { isTextToDatabase, type Store } from './stores.ts';

/** Rows that one transaction looks at. */
const CHUNK = 1000;

/** A row in which the number stands. */
export interface FoundRow {
  /** The values of its key, as text. */
  key: string[];
  isPerson: boolean;
  /** Its columns that hold text. */
  values: Record<string, unknown>;
}

/** A chunk of a table: where the number stands in it, and its last row, after which it goes on. */
export interface LookedThrough {
  found: FoundRow[];
  /** Nothing where the table ends with this chunk. */
  place: string[] | undefined;
}

const names = (store: Store) => Object.keys(store.key).map((name) => sql.ref(name));
const tuple = (parts: readonly RawBuilder<unknown>[]) => sql`(${sql.join(parts)})`;

const typed = ({ key }: Store, values: readonly string[]) =>
  Object.values(key).map((type, at) => sql`${values[at]}::${sql.raw(type)}`);

/** SQL that names a row by its key, within a workspace. */
export const whereKey = (store: Store, workspaceId: string, key: readonly string[]): RawBuilder<unknown> =>
  sql`workspace_id = ${workspaceId} and ${tuple(names(store))} = ${tuple(typed(store, key))}`;

/** SQL for whether a row is about the person themselves. */
function isPersonIn({ isPerson, numbers = [] }: Store, number: RawBuilder<unknown>): RawBuilder<boolean> {
  if (isPerson) return isPerson(number);
  const same = [sql`false`, ...numbers.map((column) => sql`${sql.ref(column)} = ${number}`)];
  return sql<boolean>`(${sql.join(same, sql` or `)})`;
}

/**
 * Looks through the next rows of a table of a workspace, and locks those in which the number stands.
 * @param whole answers whole rows, and locks none
 */
export async function lookThrough(
  tx: Tx,
  store: Store,
  {
    workspaceId,
    person: { number, pattern },
    after,
    whole = false,
  }: { workspaceId: string; person: Person; after: readonly string[] | undefined; whole?: boolean },
): Promise<LookedThrough> {
  const table = sql.table(store.table);
  const key = tuple(names(store));
  const beyond = after ? sql`and ${key} > ${tuple(typed(store, after))}` : sql``;
  const asText = sql`array[${sql.join(names(store).map((name) => sql`${name}::text`))}]`;
  const { rows: ends } = await sql<{ key: string[] }>`
    select ${asText} as key from ${table} where workspace_id = ${workspaceId} ${beyond}
    order by ${sql.join(names(store))} offset ${sql.lit(CHUNK - 1)} limit 1`.execute(tx.db);
  const place = ends[0]?.key;
  const until = place ? sql`and ${key} <= ${tuple(typed(store, place))}` : sql``;
  const isPerson = isPersonIn(store, sql`${number}::bigint`);
  const columns = Object.keys(store.columns);
  const mentions = columns.map((column) => sql`${sql.ref(column)}::text ~ ${pattern}`);
  const fields = columns.flatMap((column) => [sql.lit(column), sql.ref(column)]);
  const values = whole
    ? sql`to_jsonb(${table}) - '{workspace_id,server_id}'::text[]`
    : sql`json_build_object(${sql.join(fields)})`;
  const { rows: found } = await sql<FoundRow>`
    select ${asText} as key, ${isPerson} as "isPerson", ${values} as values from ${table}
    where workspace_id = ${workspaceId} ${beyond} ${until} and (${isPerson} or ${sql.join(mentions, sql` or `)})
    ${whole ? sql`` : sql`for update`}`.execute(tx.db);
  return { found, place };
}

/** Writes columns of a row anew. */
export function rewriting(store: Store, changed: Record<string, unknown>): RawBuilder<unknown>[] {
  return Object.entries(changed).map(([column, value]) => {
    const kind = store.columns[column]!;
    const isJson = kind === 'json' || kind === 'jsonb';
    const sent = isJson && value !== null ? JSON.stringify(value) : value;
    const type = isTextToDatabase(store, column) ? 'text' : kind;
    return sql`${sql.ref(column)} = ${sent}::${sql.raw(type)}`;
  });
}

import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import type { FoundRow } from '../../platform/person-data/look-through.ts';
import { rewriting, whereKey } from '../../platform/person-data/look-through.ts';
import { scrub, withoutContext } from '../../platform/person-data/number-in-text.ts';
import type { Person } from '../../platform/person-data/spellings.ts';
import { isTextToDatabase, type Store } from '../../platform/person-data/stores.ts';

/**
 * Takes the number out of rows, and out of those of the person themselves what they say of them.
 * @returns how many rows are others now
 */
export async function eraseMentions(
  tx: EngineTx,
  store: Store,
  { workspaceId, person, mark }: { workspaceId: string; person: Person; mark: string },
  found: readonly FoundRow[],
): Promise<number> {
  let rewritten = 0;
  for (const row of found) {
    const where = whereKey(store, workspaceId, row.key);
    const isEmptied = (row.isPerson || store.isPersons) && store.emptied;
    if (isEmptied) await sql`update ${sql.table(store.table)} set ${isEmptied} where ${where}`.execute(tx.db);
    const left = isEmptied ? await readAgain(tx, store, workspaceId, row) : row.values;
    const changed = Object.fromEntries(
      Object.entries(left).flatMap(([column, value]) => {
        const after = without(store, column, value, { person, mark, isPerson: row.isPerson });
        return JSON.stringify(after) === JSON.stringify(value) ? [] : [[column, after]];
      }),
    );
    if (isEmptied || Object.keys(changed).length > 0) rewritten += 1;
    if (Object.keys(changed).length > 0)
      await sql`
        update ${sql.table(store.table)} set ${sql.join(rewriting(store, changed))} where ${where}`.execute(tx.db);
  }
  return rewritten;
}

/** @param mark what the audit log has in place of the number: it tells that two entries were about one person */
function without(
  store: Store,
  column: string,
  value: unknown,
  { person, mark, isPerson }: { person: Person; mark: string; isPerson: boolean },
) {
  if (store.table === 'audit_log' && column === 'resource_id' && value === `+${person.number}`) return mark;
  // What is told of a run that was erased.
  if (store.table === 'events' && isPerson) return scrub(withoutContext(value as Record<string, unknown>), person);
  if (!isTextToDatabase(store, column)) return scrub(value, person);
  const payload = JSON.parse(value as string);
  const after = scrub(isPerson ? { ...payload, data: withoutContext(payload.data) } : payload, person);
  return JSON.stringify(after) === JSON.stringify(payload) ? value : after;
}

async function readAgain(tx: EngineTx, store: Store, workspaceId: string, { key }: FoundRow) {
  const fields = Object.keys(store.columns).flatMap((column) => [sql.lit(column), sql.ref(column)]);
  const { rows } = await sql<{ values: Record<string, unknown> }>`
    select json_build_object(${sql.join(fields)}) as values from ${sql.table(store.table)}
    where ${whereKey(store, workspaceId, key)}`.execute(tx.db);
  return rows[0]!.values;
}

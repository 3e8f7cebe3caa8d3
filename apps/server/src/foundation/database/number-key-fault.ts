import { sql } from 'kysely';
import type { EngineTx } from './database.ts';
import { numberCheck } from './number-digest.ts';

/** Why no server runs on a database whose erased numbers are known by another key. */
export const OTHER_KEY =
  'ENCRYPTION_KEY is not the one under which numbers were erased from this database, which tells who is not to be called. Set that one.';

/** Why a connection can't tell erased numbers from others; nothing where it can. */
export async function numberKeyFault({ db }: { db: EngineTx['db'] }): Promise<string | undefined> {
  const { rows } = await sql<{ has_key: boolean; fits: boolean }>`
    select ${numberCheck} is not null as has_key, coalesce(number_check = ${numberCheck}, true) as fits
    from installation`.execute(db);
  const { has_key, fits } = rows[0]!;
  if (!has_key)
    return 'The connection to the database loses its settings, and with them which erased numbers are not to be called. Have the pooler that stands between work in session mode, or connect without it.';
  return fits ? undefined : OTHER_KEY;
}

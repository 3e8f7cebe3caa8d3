import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';

/** The languages that PostgreSQL has both rules and stop words for. */
const LANGUAGES = [
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'hungarian',
  'italian',
  'norwegian',
  'portuguese',
  'russian',
  'spanish',
  'swedish',
  'turkish',
];
const NONE = 'simple';
const WORDS = 500;
/** Of all words; in running text of these languages it is a sixth to a half. */
const LEAST_SHARE = 0.08;

/**
 * The text search configuration for a text: that of the language whose stop words it holds most of, as PostgreSQL knows
 * them, or `simple`, which takes words as they are.
 */
export async function detectLanguage(tx: WorkspaceTx, text: string): Promise<string> {
  const words = [...text.toLowerCase().matchAll(/\p{L}+/gu)].slice(0, WORDS).map(([word]) => word);
  const { rows } = await sql<{ language: string; stops: number }>`
    select language, count(*) as stops
    from unnest(${LANGUAGES}::text[]) as language, unnest(${words}::text[]) as word
    where ts_lexize(('pg_catalog.' || language || '_stem')::regdictionary, word) = '{}'
    group by language order by stops desc, language limit 1`.execute(tx.db);
  const [best] = rows;
  return best && best.stops >= words.length * LEAST_SHARE ? best.language : NONE;
}

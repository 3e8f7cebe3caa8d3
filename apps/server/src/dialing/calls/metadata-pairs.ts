import { type RawBuilder, sql } from 'kysely';
import { several } from '../../foundation/database/page.ts';

/** A name in metadata, and its value. */
export type MetadataPair = readonly [name: string, value: string];

/** Reads `name=value`, one or several. */
export const metadataPairs = (asked: string | readonly string[] | undefined): MetadataPair[] | undefined =>
  several(asked)?.map((pair) => {
    const end = pair.indexOf('=');
    return [pair.slice(0, end), pair.slice(end + 1)];
  });

/** Whether metadata, in SQL, have all of these. */
export const hasPairs = (metadata: RawBuilder<unknown>, pairs: readonly MetadataPair[]): RawBuilder<unknown> =>
  sql.join(
    pairs.map(([name, value]) => sql`${metadata} @> ${JSON.stringify({ [name]: value })}::jsonb`),
    sql` and `,
  );

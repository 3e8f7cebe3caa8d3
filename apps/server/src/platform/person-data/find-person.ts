import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { type Person, personOf } from './spellings.ts';

/** A number as the person who is looked for in a workspace. @param number E.164 without the plus */
export async function findPerson({ db }: Pick<Tx, 'db'>, workspaceId: string, number: number): Promise<Person> {
  const { rows } = await sql<{ country: string }>`
    select default_country as country from contact_lists
      where workspace_id = ${workspaceId} and default_country is not null
    union select country from phone_numbers where workspace_id = ${workspaceId}`.execute(db);
  return personOf(
    number,
    rows.map(({ country }) => country),
  );
}

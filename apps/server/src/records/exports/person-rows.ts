import { fromE164 } from '../../dialing/calls/call.ts';
import type { Database } from '../../foundation/database/database.ts';
import { findPerson } from '../../platform/person-data/find-person.ts';
import { lookThrough } from '../../platform/person-data/look-through.ts';
import { holds } from '../../platform/person-data/number-in-text.ts';
import type { Person } from '../../platform/person-data/spellings.ts';
import { keyStores, stores } from '../../platform/person-data/stores.ts';
import type { Table } from './contact-rows.ts';
import type { PersonFilter } from './export.ts';

/** Of lists that name several people, what names this one. */
const about = (values: Record<string, unknown>, person: Person) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.filter((item) => holds(item, person)) : value,
    ]),
  );

/** All that an erasure of the number would find, as it is kept: where it stands, the key of its row, and the row. */
export function personTable(database: Database, workspaceId: string, { phoneNumber }: PersonFilter): Table {
  return { header: ['kind', 'key', 'data'], rows: personRows(database, workspaceId, fromE164(phoneNumber)) };
}

async function* personRows(database: Database, workspaceId: string, number: number): AsyncGenerator<unknown[][]> {
  const person = await database.inWorkspace(workspaceId, (tx) => findPerson(tx, workspaceId, number));
  for (const store of [...stores, ...keyStores]) {
    let after: string[] | undefined;
    do {
      const wanted = { workspaceId, person, after, whole: true };
      const { found, place } = await database.inWorkspace(workspaceId, (tx) => lookThrough(tx, store, wanted), {
        mayTakeLong: true,
      });
      yield found.map((row) => [store.table, row.key.join(' '), row.isPerson ? row.values : about(row.values, person)]);
      after = place;
    } while (after);
  }
}

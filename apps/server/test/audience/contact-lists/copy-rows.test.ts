import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRows } from '../../../src/audience/contact-lists/copy-rows.ts';
import type { ReadContact } from '../../../src/audience/contact-lists/reading/check-row.ts';
import { openStaging } from '../../../src/audience/contact-lists/staging.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { freshDatabase } from '../../database.ts';
import { statementOn } from '../../foundation/database/statement-on.ts';

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

const contact = (values: string[], more: Partial<ReadContact> = {}): ReadContact => ({
  row: 2,
  phoneColumn: 0,
  phoneNumber: 14155550101,
  country: 'US',
  name: undefined,
  timezone: undefined,
  values,
  ...more,
});

/** What stands in the database after these contacts were copied, in the order of their rows. */
async function copied(positions: number[], ...batches: ReadContact[][]) {
  const [workspaceId, uploadId] = [newUuid(), newUuid()];
  const staging = await openStaging(database.connection, { workspaceId, uploadId }, async () => true);
  const rowsOf = copyRows(workspaceId, uploadId, positions);
  for (const batch of batches) await staging!.write(rowsOf(batch), batch.length);
  await staging!.flush();
  await staging!.close();
  const found = await statementOn(
    database.connection,
    `select phone_number, row_number, name, timezone, "values" from contact_list_entries_all
      where workspace_id = '${workspaceId}' and upload_id = '${uploadId}' order by row_number`,
  );
  return found.rows;
}

const valuesOf = (rows: { values: unknown }[]) => rows.map(({ values }) => values);

test('missing cells are NULL, empty ones are empty', async () => {
  const rows = await copied(
    [0, 1],
    [contact(['', 'Lima']), contact(['a', 'b'], { row: 3, phoneNumber: 1, name: 'Ana', timezone: 'UTC' })],
  );
  expect(rows).toEqual([
    { phone_number: '14155550101', row_number: 2, name: null, timezone: null, values: ['', 'Lima'] },
    { phone_number: '1', row_number: 3, name: 'Ana', timezone: 'UTC', values: ['a', 'b'] },
  ]);
});

test('values stand at their places in the columns of the list, with NULL between and nothing after', async () => {
  expect(valuesOf(await copied([3, 1], [contact(['d', 'b'])]))).toEqual([[null, 'b', null, 'd']]);
  expect(valuesOf(await copied([], [contact([])]))).toEqual([[]]);
});

test('signs, letters of other scripts and the longest numbers come as they are', async () => {
  const name = 'x\ty\\N Åkesson 東京 😀';
  const values = ['a"b\\c\td\ne\rf,{}', 'NULL', '\\.', '\ud800'];
  const [row] = await copied([0, 1, 2, 3], [contact(values, { name, phoneNumber: 999_999_999_999_999 })]);
  expect(row).toMatchObject({ phone_number: '999999999999999', name });
  expect(row.values).toEqual([...values.slice(0, 3), '\ufffd']);
});

test('rows of any length come whole, over both connections', async () => {
  const batch = (at: number) =>
    Array.from({ length: 3 }, (_, n) => {
      const row = at * 3 + n;
      return contact(['é'.repeat(row * 5000), String(row)], { row, phoneNumber: 1000 + row });
    });
  const rows = await copied([0, 1], ...Array.from({ length: 8 }, (_, at) => batch(at)));
  expect(valuesOf(rows)).toEqual(Array.from({ length: 24 }, (_, row) => ['é'.repeat(row * 5000), String(row)]));
});

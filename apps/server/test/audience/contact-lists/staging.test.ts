import { expect, test } from 'vitest';
import { openStaging } from '../../../src/audience/contact-lists/staging.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { freshDatabase } from '../../database.ts';
import { statementOn } from '../../foundation/database/statement-on.ts';
import { until } from '../../until.ts';

test('an upload is locked until each session that copies its rows is gone, and is validated by one at a time', async () => {
  const { connection, drop } = await freshDatabase();
  const upload = { workspaceId: newUuid(), uploadId: newUuid() };
  const open = (doesBegin = true) => openStaging(connection, upload, async () => doesBegin);
  const sessions = `from pg_stat_activity where datname = current_database() and application_name = 'trunkline import'`;
  const locks = async () =>
    (
      await statementOn(
        connection,
        `select mode, granted from pg_locks where locktype = 'advisory' and pid in (select pid ${sessions})`,
      )
    ).rows;
  const staging = await open();
  const shared = { mode: 'ShareLock', granted: true };
  expect(await locks()).toEqual([shared, shared]);
  await expect(open()).rejects.toThrow('Another process still validates this upload.');
  await staging!.close();
  await until(async () => (await statementOn(connection, `select 1 ${sessions}`)).rowCount === 0);
  expect(await open(false)).toBeUndefined();
  await until(async () => (await statementOn(connection, `select 1 ${sessions}`)).rowCount === 0);
  await drop();
});

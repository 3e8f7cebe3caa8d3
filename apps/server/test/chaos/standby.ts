import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Connection } from '../../src/foundation/database/connection.ts';
import { findPlace } from '../../src/foundation/database/postgres/place.ts';
import { statementOn } from '../foundation/database/statement-on.ts';
import { until } from '../until.ts';
import { type OwnPostgres, startOwnPostgres, superuserOf } from './postgres.ts';

/** Changes a setting of a PostgreSQL that runs. */
export async function configure({ connection }: Pick<OwnPostgres, 'connection'>, setting: string): Promise<void> {
  await statementOn(superuserOf(connection), `alter system set ${setting}`);
  await statementOn(superuserOf(connection), 'select pg_reload_conf()');
}

/** A standby that follows, as a copy of a primary, which is stopped and started for it. Both are named by their homes. */
export async function standbyOf(primary: OwnPostgres, from: string, to: string): Promise<OwnPostgres> {
  await mkdir(to, { mode: 0o711 });
  await primary.stop();
  const [{ data }, place] = [await findPlace(from), await findPlace(to)];
  await copyFolder(data, place.data);
  await writeFile(path.join(place.data, 'standby.signal'), '');
  const host = folderOf(primary.connection);
  await writeFile(path.join(place.data, 'postgresql.auto.conf'), `primary_conninfo = 'host=${host} user=postgres'\n`);
  if (typeof place.account === 'object')
    await promisify(execFile)('chown', ['-R', `${place.account.uid}:${place.account.gid}`, place.data]);
  await primary.start();
  const standby = await startOwnPostgres(to);
  const streaming = "select from pg_stat_replication where state = 'streaming'";
  await until(async () => (await statementOn(superuserOf(primary.connection), streaming)).rowCount === 1);
  return standby;
}

/** With its owners: PostgreSQL starts on its own files only. */
export const copyFolder = (from: string, to: string): Promise<unknown> => promisify(execFile)('cp', ['-a', from, to]);

/** Of its socket. */
export const folderOf = ({ connectionString }: Connection): string =>
  decodeURIComponent(/@([^/]*)/.exec(connectionString)![1]!);

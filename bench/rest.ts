import { setTimeout as sleep } from 'node:timers/promises';
import {
  findEmbeddedPostgres,
  removeEmbeddedPostgres,
} from '../apps/server/src/foundation/database/postgres/embedded.ts';
import { atEnd } from './at-end.ts';
import { forkTrunkline } from './child.ts';
import { postmasterOf, temporaryFolder } from './postgres.ts';
import { cpuBetween, cpuOf } from './processes.ts';
import type { Found } from './table.ts';

/** PostgreSQL looks twice meanwhile for what is to be tidied up after the start. */
const SETTLE_MS = 30_000;
const SECONDS = 60;

/** What a server takes, with the PostgreSQL that it brings, while nobody asks anything of it. */
export async function benchRest(): Promise<Found> {
  const dataDir = await temporaryFolder();
  atEnd(() => removeEmbeddedPostgres(dataDir));
  const server = await forkTrunkline({ DATA_DIR: dataDir });
  const { connection } = (await findEmbeddedPostgres(dataDir))!;
  const postmaster = await postmasterOf(connection!.connectionString);
  await sleep(SETTLE_MS);

  const pids = [server.pid, postmaster];
  const before = await Promise.all(pids.map(cpuOf));
  await sleep(SECONDS * 1000);
  const after = await Promise.all(pids.map(cpuOf));
  const [ofServer, ofPostgres] = after.map((each, at) => (cpuBetween(before[at]!, each) / SECONDS) * 100);
  const cost = (what: string, value: number) => ({ what: `at rest, CPU of ${what}`, value, unit: '% of a core' });
  return {
    costs: [
      cost('the server', ofServer!),
      cost('PostgreSQL', ofPostgres!),
      { ...cost('both', ofServer! + ofPostgres!), aim: '≤ 1 %' },
    ],
  };
}

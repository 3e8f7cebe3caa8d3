import { createReadStream, openAsBlob } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createClient } from '@trunkline/client';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { newKey } from '../apps/server/src/platform/api-keys/key.ts';
import { forkTrunkline } from './child.ts';
import { contactFile } from './import-file.ts';
import { POOL_SIZE, settle, startPostgres, temporaryFolder } from './postgres.ts';
import { forgetPeak, memoryOf } from './processes.ts';
import { type Effort, inTurns, median } from './rounds.ts';
import type { Found } from './table.ts';

const MILLION = 1_000_000;
const SIZES = { whole: { rounds: 3, rows: MILLION }, quick: { rounds: 1, rows: MILLION / 10 } };
const MOST_MEMORY = '≤ 350 MB';

/** A million contacts from PUT to `processed`, against COPY of the same file into a table of text; and the memory. */
export async function benchImport(effort: Effort): Promise<Found> {
  const { rounds, rows } = SIZES[effort];
  const { connectionString } = await (await startPostgres()).database();
  const apiKey = newKey('bench');
  const { file, bytes } = await contactFile(rows);
  console.error(`  a file of ${Math.round(bytes / 1e6)} MB`);

  const server = await startImporter(connectionString, apiKey);
  let peak = 0;
  const rates = await inTurns(['trunkline', 'copy'], rounds, async (name) => {
    await settle(connectionString);
    if (name === 'copy') return rate(rows, () => rawCopy(connectionString, file));
    const imported = await importOnce(server, file, rows);
    peak = Math.max(peak, imported.peak);
    console.error(`  ${Math.round(imported.rate)} rows/s, ${Math.round(imported.peak)} MB`);
    return imported.rate;
  });

  await server.end();
  const what = `import of ${rows / MILLION}M rows`;
  const found = {
    rows: [
      {
        what: `${what}, PUT to processed`,
        ours: median(rates.trunkline),
        peer: 'COPY into a text table',
        theirs: median(rates.copy),
        unit: 'rows/s',
        aim: '≥ 0.2',
      },
    ],
    costs: [{ what: `${what}, most memory`, value: peak, unit: 'MB', aim: MOST_MEMORY }],
  };
  if (effort === 'quick') return found;
  const more = await contactFile(3 * MILLION);
  const three = await importOnce(await startImporter(connectionString, apiKey), more.file, 3 * MILLION);
  return {
    ...found,
    costs: [
      ...found.costs,
      { what: 'import of 3M rows, most memory', value: three.peak, unit: 'MB', aim: MOST_MEMORY },
      { what: 'import of 3M rows, PUT to processed', value: three.rate, unit: 'rows/s' },
    ],
  };
}

async function rate(rows: number, work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return rows / ((performance.now() - from) / 1000);
}

async function startImporter(connectionString: string, apiKey: string) {
  const { port, pid, end } = await forkTrunkline({
    DATABASE_URL: connectionString,
    DATA_DIR: await temporaryFolder(),
    BOOTSTRAP_API_KEY: apiKey,
    POOL_SIZE: String(POOL_SIZE),
    UPLOAD_MAX_ROWS: String(3 * MILLION),
    UPLOAD_MAX_BYTES: '1000000000',
  });
  return { pid, end, client: createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey }) };
}

/** Sends a file, waits until it is checked, and confirms it. The memory is that of the server's process. */
async function importOnce({ client, pid }: Awaited<ReturnType<typeof startImporter>>, file: string, rows: number) {
  const blob = await openAsBlob(file);
  await forgetPeak(pid);
  let total = 0;
  const perSecond = await rate(rows, async () => {
    const { list } = await client.contactLists.upload({ name: 'Spring', file: blob });
    total = (await client.contactLists.confirm(list.id)).totalEntries;
  });
  if (total !== rows) throw new Error(`Only ${total} of ${rows} rows were imported.`);
  return { rate: perSecond, peak: (await memoryOf(pid)).peak };
}

/** What psql does for \copy. */
async function rawCopy(connectionString: string, file: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query('drop table if exists raw');
    await client.query('create table raw (phone_number text, name text, city text, appointment text, reference text)');
    await pipeline(createReadStream(file), client.query(copyFrom('copy raw from stdin (format csv, header)')));
  } finally {
    await client.end();
  }
}

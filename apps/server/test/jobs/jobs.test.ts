import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { type Jobs, NotYet, openJobs } from '../../src/jobs/jobs.ts';
import { freshDatabase } from '../database.ts';
import { until } from '../until.ts';

const logged: { level: number; queue?: string }[] = [];
const log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) });
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
/** Two processes' queues on one database. */
let jobs: Jobs;
let others: Jobs;

beforeAll(async () => {
  fresh = await freshDatabase();
  const { connection } = fresh;
  database = openDatabase({ connection, poolSize: 4, log });
  [jobs, others] = await Promise.all([openJobs({ connection, log }), openJobs({ connection, log })]);
});
afterAll(async () => {
  await Promise.all([jobs.close(), others.close()]);
  await database.close();
  await fresh.drop();
});

interface Numbered {
  number: number;
}

test('a job is there when its transaction commits, is run once, by whichever process, at once', async () => {
  const ran: number[] = [];
  const task = { queue: 'once', concurrency: 2, run: async ({ number }: Numbered) => void ran.push(number) };
  await jobs.work(task);
  await others.work(task);
  const failing = database.inEngine(async (tx) => {
    await jobs.enqueue(tx, 'once', { number: 0 });
    throw new Error('undone');
  });
  await expect(failing).rejects.toThrow('undone');
  await database.inEngine(async (tx) => {
    for (let number = 1; number <= 10; number += 1) await jobs.enqueue(tx, 'once', { number });
  });
  await until(async () => ran.length >= 10);
  expect(ran.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('a job for later waits until then', async () => {
  await database.inEngine(async (tx) => {
    await jobs.enqueue(tx, 'once', { number: 12 }, { afterSeconds: 60 });
    const { rows } = await sql<{ waits: number }>`
      select extract(epoch from start_after - created_on)::integer as waits from pgboss.job
      where name = 'once' and data ->> 'number' = '12'`.execute(tx.db);
    expect(rows).toEqual([{ waits: 60 }]);
  });
});

test('what fails is tried again, and given up in the end', async () => {
  const tried: number[] = [];
  const givenUp: number[] = [];
  await jobs.work<Numbered>({
    queue: 'failing',
    concurrency: 1,
    retries: 1,
    run: async ({ number }) => {
      tried.push(number);
      throw new Error('no');
    },
    giveUp: async ({ number }) => void givenUp.push(number),
  });
  await database.inEngine((tx) => jobs.enqueue(tx, 'failing', { number: 7 }));
  await until(async () => givenUp.length > 0, 20);
  expect(tried).toEqual([7, 7]);
  expect(givenUp).toEqual([7]);
});

test('what has to wait is tried again too, and alarms nobody; what fails is logged', async () => {
  const tried: string[] = [];
  const worker = (queue: string, error: Error) => ({
    queue,
    concurrency: 1,
    run: async () => {
      tried.push(queue);
      if (tried.filter((other) => other === queue).length === 1) throw error;
    },
  });
  await jobs.work(worker('waiting', new NotYet('not yet')));
  await jobs.work(worker('faulty', new Error('no')));
  await database.inEngine(async (tx) => {
    await jobs.enqueue(tx, 'waiting', {});
    await jobs.enqueue(tx, 'faulty', {});
  });
  await until(async () => tried.length === 4, 20);
  expect(logged.filter(({ queue }) => queue === 'waiting')).toEqual([]);
  expect(logged.filter(({ queue }) => queue === 'faulty')).toMatchObject([{ level: 50 }]);
});

test('what a process lets go of is taken up by another', async () => {
  const [begun, ended]: [string[], string[]] = [[], []];
  const worker = (name: string) => ({
    queue: 'long',
    concurrency: 1,
    run: async (_: object, signal: AbortSignal) => {
      begun.push(name);
      if (begun.length === 1) {
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
      ended.push(name);
    },
  });
  const quitting = await openJobs({ connection: fresh.connection, log });
  await quitting.work(worker('quitting'));
  await database.inEngine((tx) => jobs.enqueue(tx, 'long', {}));
  await until(async () => begun.length === 1);
  await others.work(worker('other'));
  await quitting.quit();
  await database.inEngine((tx) => quitting.enqueue(tx, 'once', { number: 11 }));
  await quitting.close();
  await until(async () => ended.length === 1, 20);
  expect(begun).toEqual(['quitting', 'other']);
  expect(ended).toEqual(['other']);
});

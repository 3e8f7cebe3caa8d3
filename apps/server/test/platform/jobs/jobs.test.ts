import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { type Jobs, NotYet, openJobs } from '../../../src/platform/jobs/jobs.ts';
import { freshDatabase } from '../../database.ts';
import { until } from '../../until.ts';

const logged: { level: number; queue?: string }[] = [];
const log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) });
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
/** Two processes' queues on one database. */
let jobs: Jobs;
let others: Jobs;

const open = () => openJobs({ connection: fresh.connection, connections: 1, log, registry: new Registry() });

beforeAll(async () => {
  fresh = await freshDatabase();
  const { connection } = fresh;
  database = openDatabase({ connection, poolSize: 4, log });
  [jobs, others] = await Promise.all([open(), open()]);
});
afterAll(async () => {
  await Promise.all([jobs.close(), others.close()]);
  await database.close();
  await fresh.drop();
});

const workspaceId = newUuid();

interface Numbered {
  workspaceId: string;
  number: number;
}

test('a job is there when its transaction commits, is run once, by whichever process, at once', async () => {
  const ran: number[] = [];
  const task = { queue: 'once', concurrency: 2, run: async ({ number }: Numbered) => void ran.push(number) };
  await jobs.work(task);
  await others.work(task);
  const failing = database.inEngine(async (tx) => {
    await jobs.enqueue(tx, 'once', { workspaceId, number: 0 });
    throw new Error('undone');
  });
  await expect(failing).rejects.toThrow('undone');
  await database.inEngine(async (tx) => {
    for (let number = 1; number <= 10; number += 1) await jobs.enqueue(tx, 'once', { workspaceId, number });
  });
  await until(async () => ran.length >= 10);
  expect(ran.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('a job for later waits until then', async () => {
  await database.inEngine(async (tx) => {
    await jobs.enqueue(tx, 'once', { workspaceId, number: 12 }, { afterSeconds: 60 });
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
  await database.inEngine((tx) => jobs.enqueue(tx, 'failing', { workspaceId, number: 7 }));
  await until(async () => givenUp.length > 0);
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
    await jobs.enqueue(tx, 'waiting', { workspaceId });
    await jobs.enqueue(tx, 'faulty', { workspaceId });
  });
  await until(async () => tried.length === 4);
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
  const quitting = await open();
  await quitting.work(worker('quitting'));
  await database.inEngine((tx) => jobs.enqueue(tx, 'long', { workspaceId }));
  await until(async () => begun.length === 1);
  await others.work(worker('other'));
  await quitting.quit();
  await database.inEngine((tx) => quitting.enqueue(tx, 'once', { workspaceId, number: 11 }));
  await quitting.close();
  await until(async () => ended.length === 1);
  expect(begun).toEqual(['quitting', 'other']);
  expect(ended).toEqual(['other']);
});

test('of the workspaces that wait each has one job in turn, however many others have', async () => {
  const begun: string[] = [];
  const own = await open();
  const [many, more, one] = [newUuid(), newUuid(), newUuid()];
  await own.work({ queue: 'turns', concurrency: 1, run: async (job: Numbered) => void begun.push(job.workspaceId) });
  await database.inEngine(async (tx) => {
    for (const each of [many, more])
      for (let number = 0; number < 10; number += 1) await own.enqueue(tx, 'turns', { workspaceId: each, number });
    await own.enqueue(tx, 'turns', { workspaceId: one, number: 0 });
  });
  await until(() => begun.length === 21);
  expect(begun.indexOf(one)).toBeLessThan(3);
  expect(begun.slice(3, 9).filter((each) => each === more)).toHaveLength(3);
  await own.close();
});

test('what one workspace has begun keeps no other waiting', async () => {
  const own = await open();
  const begun: string[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const noisy = newUuid();
  await own.work<Numbered>({
    queue: 'shared',
    concurrency: 3,
    run: async (job) => {
      begun.push(job.workspaceId);
      if (job.workspaceId === noisy) await ended;
    },
  });
  await database.inEngine(async (tx) => {
    for (let number = 0; number < 6; number += 1) await own.enqueue(tx, 'shared', { workspaceId: noisy, number });
  });
  await until(() => expect(begun).toEqual([noisy, noisy]));
  // One after the other, all in the place that is left.
  for (let number = 1; number <= 3; number += 1) {
    await database.inEngine((tx) => own.enqueue(tx, 'shared', { workspaceId, number }));
    await until(() => expect(begun.filter((each) => each === workspaceId)).toHaveLength(number));
  }
  expect(begun.filter((each) => each === noisy)).toHaveLength(2);
  end();
  await until(() => expect(begun.filter((each) => each === noisy)).toHaveLength(6));
  await own.close();
});

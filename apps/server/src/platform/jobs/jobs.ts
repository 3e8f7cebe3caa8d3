import { sql } from 'kysely';
import type pg from 'pg';
import { fromKysely, type Job, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { Client } from '../../foundation/database/client.ts';
import type { Connection } from '../../foundation/database/connection.ts';
import { type EngineTx, IDLE_MS, type WorkspaceTx } from '../../foundation/database/database.ts';
import { translated } from '../../foundation/database/errors.ts';
import { listen } from '../../foundation/database/listen.ts';
import { watchPool } from '../../foundation/database/silence.ts';
import { measureSlots } from '../../foundation/observe/slot-metrics.ts';
import { type Asleep, every } from './every.ts';
import type { DueTime } from './quiet.ts';

/** One kind of background work. `run` gets IDs, reads the rest from their rows, and is safe to run twice. */
export interface Task<Data extends object> {
  queue: string;
  /**
   * How many of them this process carries out at once. Those of one workspace have all but a half, rounded up, so that what
   * one has begun never keeps all others waiting.
   */
  concurrency: number;
  /** How often it is tried again; 20 times by default. */
  retries?: number;
  /** Throws to have it run again, later and later. The signal says that this process must let go. */
  run(data: Data, signal: AbortSignal): Promise<void>;
  /** Called when the last of these times has failed too, so that nobody waits for ever. */
  giveUp?(data: Data): Promise<void>;
}

/** Thrown by a task that has to wait for something: it is run again like one that failed, but nothing is wrong. */
export class NotYet extends Error {}

/** Background work in the database: what one server took and didn't end, because it died, another takes up. */
export interface Jobs {
  /**
   * Makes a job part of the transaction: it is there once that commits. Some server with this task picks it up at once, or
   * after so many seconds.
   */
  enqueue<Data extends { workspaceId: string }>(
    tx: WorkspaceTx | EngineTx,
    queue: string,
    data: Data,
    options?: { afterSeconds: number },
  ): Promise<void>;
  /** Begins to carry out a task's jobs in this process. */
  work<Data extends object>(task: Task<Data>): Promise<void>;
  /** Lets go of the work of this process, which others take up. It can still enqueue. */
  quit(): Promise<void>;
  close(): Promise<void>;
}

/** The jobs next in line that are looked at for a new one's turn: what it costs doesn't grow with a queue. */
const LOOKED_AT = 1000;

/**
 * Which turn a new job of a workspace has: behind its own that wait, and beside the first of others. So of the workspaces
 * that wait each has one in turn, however many jobs one of them has. Of more than are looked at, one's own share a turn.
 */
async function turnOf({ db }: Pick<EngineTx, 'db'>, queue: string, workspaceId: string): Promise<number> {
  const { rows } = await sql<{ turn: number }>`
    select coalesce(max(1 - priority) filter (where group_id = ${workspaceId}), min(-priority), 0) as turn
    from (select priority, group_id from pgboss.job where name = ${queue} and state < 'active' and not blocked
      order by priority desc limit ${sql.lit(LOOKED_AT)}) as next`.execute(db);
  return rows[0]!.turn;
}

const LONGEST_SECONDS = 24 * 3600 - 1;
const CLOSING_MS = 8000;

const queueOptions = {
  heartbeatSeconds: 10,
  expireInSeconds: LONGEST_SECONDS,
  retryLimit: 20,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  deleteAfterSeconds: 3600,
  notify: true,
};

/**
 * New jobs come by NOTIFY. Those that are tried again, or whose NOTIFY was lost, are found by one look at all queues: workers
 * poll by themselves only in case of need.
 */
const polling = { pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 60 };
const LOOK_MS = 2000;

/** SQL: whether a queue `q` has a job whose time has come. */
const hasDueJob = `exists (select from pgboss.job
  where name = q.name and state < 'active' and not blocked and start_after <= clock_timestamp())`;

/** While there is a job that is not done. Those under way may be of a server that is gone. */
export const anyJob: DueTime = sql`
  select 'epoch'::timestamptz from pgboss.queue q
  where exists (select from pgboss.job where name = q.name and state < 'active' and not blocked)
    or exists (select from pgboss.job where name = q.name and state = 'active' and group_id is not null) limit 1`;

/** Has workers fetch what is due, and jobs of servers that are gone taken up by others. */
async function lookAfter(boss: PgBoss): Promise<void> {
  const { rows } = await boss.getDb().executeSql(`select name from pgboss.queue q where ${hasDueJob}`, []);
  for (const { name } of rows as { name: string }[]) wakeWorkers(boss, name);
  await boss.supervise();
}

function wakeWorkers(boss: PgBoss, queue: string): void {
  for (const { id, name } of boss.getWipData()) if (name === queue) boss.notifyWorker(id);
}

const rethrown = (error: unknown) => {
  throw translated(error);
};

/** Opens the queue in the schema `pgboss` of the database, and makes that schema where it is missing. */
export async function openJobs({
  connection,
  connections,
  log,
  registry,
  asleep,
}: {
  connection: Connection;
  /** Most that it opens, beside one to listen. */
  connections: number;
  log: Logger;
  registry: Registry;
  /** Waits while there is no job (`anyJob`). */
  asleep?: Asleep;
}): Promise<Jobs> {
  const boss = new PgBoss({
    ...connection,
    max: connections,
    // Of its pool, of which its type doesn't tell.
    ...{ idleTimeoutMillis: IDLE_MS, Client },
    application_name: 'trunkline jobs',
    useListenNotify: true,
    schedule: false,
    supervise: false,
    monitorIntervalSeconds: 2,
  });
  boss.on('error', (error) => log.warn({ err: translated(error) }, 'the job queue has a problem'));
  // What it listens by itself with would stay with the first host that the URL names.
  boss.getDb().listen = async (channel, onPayload, onListening) => {
    const onChange = (isListening: boolean) => isListening && onListening();
    return listen({ connection, channel: `"${channel}"`, log, onChange }, onPayload);
  };
  await boss.start();
  // Its type doesn't tell of the pool.
  const silence = watchPool((boss.getDb() as unknown as { pool: pg.Pool }).pool, { connection, log });
  const quitting = new AbortController();
  const queues = new Set<string>();

  async function make(queue: string, options: object): Promise<void> {
    await boss.createQueue(queue, options);
    await boss.updateQueue(queue, options);
    queues.add(queue);
  }

  /** So many at a time, without a pause while there are some. */
  async function workOn<Data extends object>(
    queue: string,
    concurrency: number,
    run: (job: Job<Data>) => Promise<void>,
  ): Promise<void> {
    const ofOneWorkspace = Math.ceil(concurrency / 2);
    const options = { ...polling, localConcurrency: concurrency, localGroupConcurrency: ofOneWorkspace };
    await boss.work<Data>(queue, options, async ([job]) => {
      // They would wait for their next poll, and where there was one job, there may be more.
      wakeWorkers(boss, queue);
      await run(job!).catch((error) => {
        if (error instanceof NotYet)
          log.debug({ reason: error.message, queue, job: job!.id }, 'a background job waits');
        else if (!quitting.signal.aborted) log.error({ err: error, queue, job: job!.id }, 'a background job failed');
        throw error;
      });
    });
  }

  const looking = every(LOOK_MS, () => lookAfter(boss).catch(rethrown), { name: 'background jobs', log, asleep });

  return {
    async enqueue(tx, queue, data, { afterSeconds } = { afterSeconds: 0 }) {
      const group = { id: data.workspaceId };
      const priority = -(await turnOf(tx, queue, data.workspaceId));
      await boss.send(queue, data, { db: fromKysely(tx.db), startAfter: afterSeconds, group, priority });
    },
    async work<Data extends object>({ queue, concurrency, retries = 20, run, giveUp }: Task<Data>) {
      const givenUp = `${queue}.given-up`;
      if (giveUp) {
        await make(givenUp, queueOptions);
        await workOn<Data>(givenUp, 1, (job) => giveUp(job.data));
      }
      await make(queue, { ...queueOptions, retryLimit: retries, ...(giveUp && { deadLetter: givenUp }) });
      let underWay = 0;
      measureSlots(registry, `jobs.${queue}`, { total: concurrency, underWay: () => underWay });
      await workOn<Data>(queue, concurrency, async (job) => {
        underWay += 1;
        await run(job.data, AbortSignal.any([job.signal, quitting.signal])).finally(() => {
          underWay -= 1;
        });
      });
    },
    async quit() {
      quitting.abort();
      await Promise.all([...queues].map((queue) => boss.offWork(queue, { wait: true })));
    },
    async close() {
      quitting.abort();
      await looking.close();
      await boss.stop({ graceful: true, timeout: CLOSING_MS });
      silence.close();
    },
  };
}

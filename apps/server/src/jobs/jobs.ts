import { fromKysely, type Job, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { Connection } from '../database/connection.ts';
import type { EngineTx, WorkspaceTx } from '../database/database.ts';

/** One kind of background work. `run` gets IDs, reads the rest from their rows, and is safe to run twice. */
export interface Task<Data extends object> {
  queue: string;
  /** How many of them this process carries out at once. */
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
  enqueue<Data extends object>(
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

/** New jobs come by NOTIFY; polls find those that are tried again, or whose NOTIFY was lost. */
const polling = { pollingIntervalSeconds: 1, notifyPollingIntervalSeconds: 2 };

/** Opens the queue in the schema `pgboss` of the database, and makes that schema where it is missing. */
export async function openJobs({ connection, log }: { connection: Connection; log: Logger }): Promise<Jobs> {
  const boss = new PgBoss({
    ...connection,
    max: 4,
    application_name: 'trunkline jobs',
    useListenNotify: true,
    schedule: false,
    superviseIntervalSeconds: 2,
    monitorIntervalSeconds: 2,
  });
  boss.on('error', (error) => log.warn({ reason: error.message }, 'the job queue has a problem'));
  await boss.start();
  const quitting = new AbortController();
  const queues = new Set<string>();

  async function make(queue: string, options: object): Promise<void> {
    await boss.createQueue(queue, options);
    await boss.updateQueue(queue, options);
    queues.add(queue);
  }

  /** One after another, without a pause while there are some. */
  async function workOne<Data extends object>(queue: string, run: (job: Job<Data>) => Promise<void>): Promise<void> {
    let worker = '';
    worker = await boss.work<Data>(queue, polling, async ([job]) => {
      // It would wait for its next poll, and where there was one job, there may be more.
      boss.notifyWorker(worker);
      await run(job!).catch((error) => {
        if (error instanceof NotYet)
          log.debug({ reason: error.message, queue, job: job!.id }, 'a background job waits');
        else if (!quitting.signal.aborted) log.error({ err: error, queue, job: job!.id }, 'a background job failed');
        throw error;
      });
    });
  }

  return {
    async enqueue(tx, queue, data, { afterSeconds } = { afterSeconds: 0 }) {
      await boss.send(queue, data, { db: fromKysely(tx.db), startAfter: afterSeconds });
    },
    async work<Data extends object>({ queue, concurrency, retries = 20, run, giveUp }: Task<Data>) {
      const givenUp = `${queue}.given-up`;
      if (giveUp) {
        await make(givenUp, queueOptions);
        await workOne<Data>(givenUp, (job) => giveUp(job.data));
      }
      await make(queue, { ...queueOptions, retryLimit: retries, ...(giveUp && { deadLetter: givenUp }) });
      for (let worker = 0; worker < concurrency; worker += 1) {
        await workOne<Data>(queue, (job) => run(job.data, AbortSignal.any([job.signal, quitting.signal])));
      }
    },
    async quit() {
      quitting.abort();
      await Promise.all([...queues].map((queue) => boss.offWork(queue, { wait: true })));
    },
    async close() {
      quitting.abort();
      await boss.stop({ graceful: true, timeout: CLOSING_MS });
    },
  };
}

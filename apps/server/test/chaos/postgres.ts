import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { Connection } from '../../src/database/connection.ts';
import {
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from '../../src/database/postgres/embedded.ts';
import { findPlace } from '../../src/database/postgres/place.ts';
import { postmasterRuns } from '../../src/database/postgres/postmaster.ts';

const log = pino({ level: 'silent' });

/** A PostgreSQL of the run's own, which faults may end. */
export interface OwnPostgres {
  connection: Connection;
  start(): Promise<void>;
  /** Ends it in order, with its clients' transactions undone. */
  stop(): Promise<void>;
  /** Ends it as a power cut would, all its processes. */
  crash(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts it with its data in a folder. */
export async function startOwnPostgres(dataDir: string): Promise<OwnPostgres> {
  const { connection } = await startEmbeddedPostgres({ dataDir, log });
  return {
    connection,
    start: async () => void (await startEmbeddedPostgres({ dataDir, log })),
    stop: () => stopEmbeddedPostgres(dataDir),
    crash: async () => {
      const { data } = await findPlace(dataDir);
      const pid = Number.parseInt(await readFile(path.join(data, 'postmaster.pid'), 'utf8'), 10);
      // Its children end by themselves once it is gone.
      process.kill(pid, 'SIGKILL');
      while (await postmasterRuns(data)) await sleep(20);
    },
    remove: () => removeEmbeddedPostgres(dataDir),
  };
}

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pino } from 'pino';
import type { Connection } from '../../src/foundation/database/connection.ts';
import {
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from '../../src/foundation/database/postgres/embedded.ts';
import { findPlace } from '../../src/foundation/database/postgres/place.ts';
import { postmasterRuns } from '../../src/foundation/database/postgres/postmaster.ts';

const log = pino({ level: 'silent' });

/** A PostgreSQL of the run's own, which faults may end. */
export interface OwnPostgres {
  connection: Connection;
  start(): Promise<void>;
  /** Ends it in order, with its clients' transactions undone. */
  stop(): Promise<void>;
  /** Ends it as a power cut would, all its processes. */
  crash(): Promise<void>;
  /** Freezes all its processes, or lets them go on: whoever asks meanwhile hears nothing. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  remove(): Promise<void>;
}

/** As the role that may do all. */
export const superuserOf = ({ connectionString }: Connection): Connection => ({
  connectionString: connectionString.replace('trunkline@', 'postgres@'),
});

/** Starts it with its data in a folder. */
export async function startOwnPostgres(dataDir: string): Promise<OwnPostgres> {
  const { connection } = await startEmbeddedPostgres({ dataDir, log });
  const main = async () => {
    const { data } = await findPlace(dataDir);
    return { data, pid: Number.parseInt(await readFile(path.join(data, 'postmaster.pid'), 'utf8'), 10) };
  };
  return {
    connection,
    start: async () => void (await startEmbeddedPostgres({ dataDir, log })),
    stop: () => stopEmbeddedPostgres(dataDir),
    crash: async () => {
      const { data, pid } = await main();
      // Its children end by themselves once it is gone.
      process.kill(pid, 'SIGKILL');
      while (await postmasterRuns(data)) await sleep(20);
    },
    signal: async (signal) => {
      const { pid } = await main();
      // The one that makes the others comes first, so that none is made behind the list.
      process.kill(pid, signal);
      const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'ppid=,pid=']);
      for (const line of stdout.split('\n')) {
        const [parent, child] = line.trim().split(/ +/).map(Number);
        if (parent === pid) signalIfThere(child!, signal);
      }
    },
    remove: () => removeEmbeddedPostgres(dataDir),
  };
}

/** One that has just ended needs nothing. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { program } from '../program.ts';
import type { Disorder } from './chaos-server.ts';

/** A server's place: it comes back at the same URL each time. */
export interface ServerSlot {
  readonly name: string;
  readonly url: string;
  /** Where it speaks SIP. */
  readonly sip: { host: string; port: number };
  /** Starts it, and waits until it is ready; where the database is away it is tried again. */
  start(): Promise<void>;
  /** Sends a signal to the process, where one runs; after one that ends it, waits until it is gone. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): Promise<void>;
  disturb(disorder: Disorder): void;
  /** Has it be of the other version from its next start on. @returns whether that is the newer one */
  changeVersion(): boolean;
  /** The variables that it is started with. */
  readonly environment: Record<string, string>;
  runs(): boolean;
}

/** A start that is not ready by then has failed, in milliseconds. */
const START_MS = 60_000;

const ownEntry = path.join(import.meta.dirname, 'chaos-server.ts');

/**
 * @param logFile where what it logs is added
 * @param newerEntry what is run of a newer version, if there is one
 */
export function serverSlot(
  name: string,
  {
    port,
    sip,
    logFile,
    environment,
    newerEntry = ownEntry,
  }: Pick<ServerSlot, 'sip' | 'environment'> & { port: number; logFile: string; newerEntry?: string | undefined },
): ServerSlot {
  let entry = ownEntry;
  let child: ChildProcess | undefined;
  let isWanted = false;
  const runs = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  const startOnce = async (): Promise<boolean> => {
    const run = entry === ownEntry ? await program('chaos-server') : ['--conditions=source', entry];
    const made = spawn(process.execPath, ['--max-semi-space-size=8', ...run], {
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        HOST: '127.0.0.1',
        PORT: String(port),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child = made;
    made.stderr!.on('data', (chunk) => appendFileSync(logFile, chunk));
    const timer = setTimeout(() => made.kill('SIGKILL'), START_MS);
    const ready = once(made.stdout!, 'data').then(() => true);
    const isReady = await Promise.race([ready, once(made, 'exit').then(() => false)]);
    clearTimeout(timer);
    return isReady;
  };
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    sip,
    async start() {
      isWanted = true;
      while (isWanted && !(await startOnce()));
    },
    async signal(signal) {
      if (!child || !runs()) return;
      const ends = signal === 'SIGKILL' || signal === 'SIGTERM';
      if (ends) isWanted = false;
      const gone = ends ? once(child, 'exit') : undefined;
      child.kill(signal);
      await gone;
    },
    disturb: (disorder) => void (child?.connected && child.send(disorder, () => {})),
    changeVersion: () => {
      entry = entry === ownEntry ? newerEntry : ownEntry;
      return entry !== ownEntry;
    },
    environment,
    runs,
  };
}

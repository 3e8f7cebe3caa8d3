import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { variables } from '@trunkline/server/src/config.ts';
import { removeEmbeddedPostgres } from '@trunkline/server/src/foundation/database/postgres/embedded.ts';
import { DemoError } from './options.ts';

interface Ready {
  url: string;
  docsUrl: string;
  apiKey: string;
}

/** A server of its own, with its data in a temporary folder. */
export interface ServerProcess {
  /** Where it is, once it is ready. */
  ready: Promise<Ready>;
  /** Rejects when the server ends by itself, with what it wrote last. */
  lost: Promise<never>;
  /** Ends server and database, and deletes what they kept. May be called at any time, and again. */
  remove(): Promise<void>;
}

const main = path.join(
  path.dirname(fileURLToPath(import.meta.resolve('@trunkline/server/package.json'))),
  'src/main.ts',
);
/** The server ends within 10 s by itself. */
const LONGEST_STOP_MS = 12_000;
const KEPT_LOG_LINES = 20;

/** The settings of a server that somebody runs here for good are not the demo's. */
function environment(settings: Record<string, string>): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const { name } of Object.values(variables)) delete env[name];
  return { ...env, ...settings };
}

/**
 * Starts the server.
 * @param speed how much faster than real time its simulated calls ring and talk
 * @param settings further ones, by the names of their variables
 */
export async function startServerProcess(speed: number, settings: Record<string, string> = {}): Promise<ServerProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-demo-'));
  // Root's PostgreSQL runs as another user, who has to pass through here.
  if (process.getuid?.() === 0) await chmod(folder, 0o711);
  const dataDir = path.join(folder, 'data');
  const env = environment({
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    SIMULATOR_SPEED: String(speed),
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'warn',
    ...settings,
  });
  // A group of its own: Ctrl-C must not end it in the middle of making its database, which nobody would then delete.
  const child = spawn(process.execPath, ['--conditions=source', main, 'serve'], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ready = new Promise<Ready>((resolve) => {
    createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line)));
  });
  const lost = end(child);
  lost.catch(() => undefined);
  let removed: Promise<void> | undefined;
  const remove = async () => {
    const late = sleep(LONGEST_STOP_MS, undefined, { ref: false });
    await Promise.race([ready, lost.catch(() => undefined), late]);
    await stop(child);
    await removeEmbeddedPostgres(dataDir);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return {
    ready,
    lost,
    remove: () => {
      removed ??= remove();
      return removed;
    },
  };
}

async function end(child: ChildProcessByStdio<null, Readable, Readable>): Promise<never> {
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line);
    if (log.length > KEPT_LOG_LINES) log.shift();
  });
  const [code, signal] = await once(child, 'close');
  throw new DemoError(`The server has ended (${code ?? signal}). What it wrote last:\n\n${log.join('\n')}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_STOP_MS);
  await ended;
  clearTimeout(timer);
}

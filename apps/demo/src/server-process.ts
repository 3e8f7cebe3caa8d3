import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { variables } from '@trunkline/server/src/config.ts';
import { removeEmbeddedPostgres } from '@trunkline/server/src/database/embedded.ts';
import { DemoError } from './options.ts';

/** A server of its own, with its data in a temporary folder. */
export interface ServerProcess {
  /** Where it is, once it is ready. Rejects with what it wrote when it ends before. */
  ready: Promise<{ url: string; docsUrl: string; apiKey: string }>;
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

/** Starts the server. `speed` is how much faster than real time its simulated calls ring and talk. */
export async function startServerProcess(speed: number): Promise<ServerProcess> {
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
  });
  // A group of its own: Ctrl-C must not end it in the middle of making its database, which nobody would then delete.
  const child = spawn(process.execPath, ['--conditions=source', main, 'serve'], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ready = readReady(child);
  ready.catch(() => undefined);
  let removed: Promise<void> | undefined;
  const remove = async () => {
    await Promise.race([ready.catch(() => undefined), sleep(LONGEST_STOP_MS, undefined, { ref: false })]);
    await stop(child);
    await removeEmbeddedPostgres(dataDir);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return {
    ready,
    remove: () => {
      removed ??= remove();
      return removed;
    },
  };
}

async function readReady(child: ChildProcess): Promise<{ url: string; docsUrl: string; apiKey: string }> {
  const log: string[] = [];
  createInterface({ input: child.stderr! }).on('line', (line) => {
    log.push(line);
    if (log.length > KEPT_LOG_LINES) log.shift();
  });
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).once('line', (line) => resolve(JSON.parse(line)));
    child.once('error', reject);
    child.once('close', (code) =>
      reject(new DemoError(`The server ended (${code}) before it was ready:\n${log.join('\n')}`)),
    );
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_STOP_MS);
  await ended;
  clearTimeout(timer);
}

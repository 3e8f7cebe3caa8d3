import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { removeEmbeddedPostgres } from '@trunkline/server/src/foundation/database/postgres/embedded.ts';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that all tests ask, and a key to it that may do everything. */
    server: { url: string; apiKey: string };
  }
}

const main = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@trunkline/server/package.json')),
  'src/main.ts',
);

/** One server with a database of its own, for the whole run. A simulated minute takes a second. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-cli-test-'));
  // Root's PostgreSQL runs as another user, who has to pass through here.
  await chmod(folder, 0o711);
  const dataDir = path.join(folder, 'data');
  const apiKey = `tl_test_${randomBytes(24).toString('hex')}`;
  const child = spawn(process.execPath, ['--conditions=source', main, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDir,
      BOOTSTRAP_API_KEY: apiKey,
      LOG_LEVEL: 'warn',
      OUTBOUND_ALLOWED_ADDRESSES: 'localhost,127.0.0.1',
      RATE_LIMIT_PER_MINUTE: '0',
      SIMULATOR_SPEED: '60',
      // Long enough for a machine that stalls.
      LEASE_SECONDS: '60',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => Promise.reject(new Error('The server of the tests has ended.'))),
  ]);
  project.provide('server', { url: JSON.parse(line).url, apiKey });
  return async () => {
    child.kill('SIGTERM');
    await ended;
    await removeEmbeddedPostgres(dataDir);
    await rm(folder, { recursive: true, force: true });
  };
}

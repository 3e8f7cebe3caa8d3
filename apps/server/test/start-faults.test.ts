import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDatabase } from './database.ts';
import { statementOn } from './foundation/database/statement-on.ts';
import { program } from './program.ts';

const main = await program('main');
const nameOf = ({ connectionString }: { connectionString: string }) => new URL(connectionString).pathname.slice(1);
let database: Awaited<ReturnType<typeof freshDatabase>>;

beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

/** Starts a server that can't be, and tells how its process ended: `exit` is null where it had to be killed. */
function fail(environment: Record<string, string>): Promise<{ exit: number | null; error: string }> {
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    PORT: '0',
    DATABASE_URL: database.connection.connectionString,
  };
  const options = { env: { ...env, ...environment }, timeout: 240_000, killSignal: 'SIGKILL' as const };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...main], options, (_, __, error) =>
      resolve({ exit: child.exitCode, error }),
    );
  });
}

test('a setting that proves wrong only when it is used ends the process too, and is named', async () => {
  const { exit, error } = await fail({ AGENTS_FILE: '/nowhere/agents.yaml' });
  expect(exit).toBe(1);
  expect(error).toContain('AGENTS_FILE /nowhere/agents.yaml: ENOENT');
});

test('a database that can not be used is told by the name of its setting, without its password', async () => {
  const url = new URL(database.connection.connectionString);
  url.pathname = '/nowhere';
  url.password = 'hunter2';
  const { exit, error } = await fail({ DATABASE_URL: url.href });
  expect(exit).toBe(1);
  expect(error).toContain('DATABASE_URL names a database that can not be used: database "nowhere" does not exist.');
  expect(error).toContain('or set DATABASE_URL to one that runs');
  expect(error).not.toContain('hunter2');
});

test('a database that may lose what it has committed is refused', async () => {
  await statementOn(database.connection, `alter database ${nameOf(database.connection)} set synchronous_commit = off`);
  const { exit, error } = await fail({});
  expect(exit).toBe(1);
  expect(error).toContain('set synchronous_commit to on');
});

test('a folder of data that can not be written is named', async () => {
  const { exit, error } = await fail({ DATA_DIR: '/dev/null/data' });
  expect(exit).toBe(1);
  expect(error).toBe(
    "This user can't write in DATA_DIR, /dev/null/data (ENOTDIR). Give it the right to, or set DATA_DIR to a folder that it may write in.\n",
  );
});

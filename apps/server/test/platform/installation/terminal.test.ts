import { execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { removeEmbeddedPostgres } from '../../../src/foundation/database/postgres/embedded.ts';
import { program } from '../../program.ts';
import { until } from '../../until.ts';

const run = promisify(execFile);
const main = await program('main');
const CTRL_C = '\u0003';

/** Starts a server on a terminal of its own, as `npm start` does, with the embedded database. */
function startOnTerminal(settings: Record<string, string>) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'trunkline-terminal-'));
  chmodSync(dataDir, 0o711);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDir, ...settings };
  const command = `${process.execPath} ${main.join(' ')} serve`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env });
  const seen = { text: '' };
  child.stdout.on('data', (part) => {
    seen.text += part;
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await removeEmbeddedPostgres(dataDir);
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { env, dataDir, child, seen };
}

test.skipIf(process.platform !== 'linux')(
  'on a terminal people read lines, learn commands that there are, and are told what Ctrl-C leaves running',
  async () => {
    const { env, dataDir, child, seen } = startOnTerminal({});
    await until(() => expect(seen.text).toContain('Ctrl-C stops it.'));
    expect(seen.text).toMatch(/INFO.*ready/);
    expect(seen.text).not.toMatch(/^\{/m);
    expect(seen.text).toContain('npm start -- keys create');
    child.stdin.write(CTRL_C);
    await until(() => expect(seen.text).toContain(`DATA_DIR=${dataDir} npm start -- stop`));
    const stopped = await run(process.execPath, [...main, 'stop'], { env });
    expect(stopped.stderr).toBe('');
  },
);

test.skipIf(process.platform !== 'linux')('on a terminal too the log is JSON where a setting says so', async () => {
  const { seen } = startOnTerminal({ LOG_FORMAT: 'json', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
  await until(() => expect(seen.text).toMatch(/^\{"level":40,.*waiting for PostgreSQL/m));
});

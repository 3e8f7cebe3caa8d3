import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { removeEmbeddedPostgres } from '../../src/foundation/database/postgres/embedded.ts';
import { installByName, packAll } from './install-packed.ts';
import { startRegistry } from './local-registry.ts';
import { testPublished } from './published.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-registry-'));
let registry: Awaited<ReturnType<typeof startRegistry>>;
beforeAll(async () => {
  registry = await startRegistry(packAll(folder));
}, 120_000);
afterAll(() => {
  registry?.stop();
  rmSync(folder, { recursive: true, force: true });
});

testPublished(tmpdir(), (at) => installByName(at, registry.settings));

test('npx starts the published server in an empty folder with an empty home, with its own database, console and docs', {
  timeout: 150_000,
}, async () => {
  const [home, cwd] = [path.join(folder, 'home'), path.join(folder, 'cwd')];
  for (const each of [home, cwd]) mkdirSync(each);
  const child = spawn('npx', ['--yes', '@trunkline/server'], {
    cwd,
    env: { ...process.env, HOME: home, HOST: '127.0.0.1', PORT: '0', DATABASE_URL: '', ...registry.settings },
    stdio: ['ignore', 'pipe', 'ignore'],
    // As in a terminal, whose Ctrl-C all of them get.
    detached: true,
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
    await removeEmbeddedPostgres(path.join(cwd, '.data'));
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const { url, consoleUrl, docsUrl } = JSON.parse(String(line));
  for (const page of [`${url}/readyz`, consoleUrl, docsUrl, `${docsUrl}/guides`])
    expect([page, (await fetch(page)).status]).toEqual([page, 200]);
  process.kill(-child.pid!, 'SIGINT');
  await ended;
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../../database.ts';
import { program } from '../../program.ts';

const main = await program('main');
let database: Awaited<ReturnType<typeof freshDatabase>>;
let dataDir: string;
const running = new Set<ChildProcess>();

beforeEach(async () => {
  database = await freshDatabase();
  dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-process-'));
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await database.drop();
  await rm(dataDir, { recursive: true, maxRetries: 10 });
});

/** Starts `trunkline-server` with these arguments and variables. */
function start(args: string[], environment: Record<string, string> = {}) {
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: database.connection.connectionString,
    DATA_DIR: dataDir,
    ...environment,
  };
  const child = spawn(process.execPath, [...main, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const output = { out: '', error: '' };
  child.stdout.on('data', (chunk) => (output.out += chunk));
  child.stderr.on('data', (chunk) => (output.error += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(() =>
    running.delete(child),
  );
  const line = new Promise<Record<string, string>>((resolve, reject) => {
    child.stdout.on('data', () => /^{.*\n/.test(output.out) && resolve(JSON.parse(output.out.split('\n')[0]!)));
    void ended.then(() => reject(new Error(output.error)));
  });
  line.catch(() => undefined);
  return { child, output, ended, line };
}

test('where nobody looks on, one line of JSON says where the server is, and the first key at the very first start', async () => {
  const first = start(['serve']);
  const { url, docsUrl, consoleUrl, apiKey } = await first.line;
  expect([docsUrl, consoleUrl]).toEqual([`${url}/docs`, `${url}/console`]);
  expect((await fetch(`${url}/v1/audit-log`, { headers: { 'X-API-Key': apiKey! } })).status).toBe(200);
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  expect(first.output.out.trim().split('\n')).toHaveLength(1);
  expect(first.output.error).not.toContain(apiKey);
  const logged = first.output.error
    .trim()
    .split('\n')
    .map((entry) => JSON.parse(entry).msg);
  expect(logged.slice(-3)).toEqual(['ready', 'draining', 'stopped']);
  const second = start([]);
  expect(Object.keys(await second.line)).toEqual(['url', 'docsUrl', 'consoleUrl']);
});

test('BOOTSTRAP_API_KEY is taken, and not shown', async () => {
  const key = newKey('dev');
  const server = start([], { BOOTSTRAP_API_KEY: key });
  const { url } = await server.line;
  expect((await fetch(`${url}/v1/audit-log`, { headers: { 'X-API-Key': key } })).status).toBe(200);
  expect(server.output.out + server.output.error).not.toContain(key);
});

test('keys create makes a key for a workspace and prints it alone', async () => {
  const made = start(['keys', 'create', '--workspace', 'Other', '--permissions', 'calls:read']);
  expect(await made.ended).toBe(0);
  expect(made.output.out).toMatch(/^tl_live_\w{43}\n$/);
  const server = start([]);
  const { url, apiKey } = await server.line;
  expect(apiKey).toBeUndefined();
  const answer = await fetch(`${url}/v1/audit-log`, { headers: { 'X-API-Key': made.output.out.trim() } });
  expect(answer.status).toBe(403);
});

test('keys create refuses a permission that there is not', async () => {
  const { ended, output } = start(['keys', 'create', '--permissions', 'calls:read,calls:reed']);
  expect(await ended).toBe(1);
  expect(output.error).toContain(
    'Unknown permission: calls:reed\n\nThere are: *, agents:read, agents:write, api_keys:read,',
  );
  expect(output.out).toBe('');
});

test('a faulty setting is named, with what would be right; its value is not shown', async () => {
  const { ended, output } = start([], { PORT: 'x1', BOOTSTRAP_API_KEY: 'hunter2' });
  expect(await ended).toBe(1);
  expect(output.error).toContain('PORT must be a whole number from 0 to 65535.\nBOOTSTRAP_API_KEY must be `tl_`');
  expect(output.error).not.toContain('hunter2');
});

test('a port that is in use is told in a line', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { ended, output } = start([], { PORT: String(port) });
  expect(await ended).toBe(1);
  expect(output.error.trim()).toBe(
    `Port ${port} is in use. Stop what uses it, or set PORT to another (0 takes any free one).`,
  );
  other.close();
});

test('an unknown command is told, with those that there are', async () => {
  const { ended, output } = start(['fly']);
  expect(await ended).toBe(1);
  expect(output.error).toContain('Unknown command: fly');
});

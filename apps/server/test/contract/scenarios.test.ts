import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

const run = promisify(execFile);
const openapi = path.join(import.meta.dirname, '../../../../openapi');

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { simulatorSpeed: 100 } });
});
afterAll(() => server.stop());

test('every scenario goes as it is written, with each answer as the contract has it', async () => {
  // The command that readers are shown.
  const command = `npm run scenarios -- --server trunkline=${server.url} --input apiKey=${server.apiKey}`;
  const { stdout } = await run('sh', ['-c', command], { cwd: openapi, maxBuffer: 1e8 }).catch((error) =>
    expect.unreachable(error.stdout),
  );
  expect(stdout).toMatch(/Workflows: 8 passed, 8 total/);
});

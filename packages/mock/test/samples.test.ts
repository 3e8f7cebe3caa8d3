import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@trunkline/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Contract, type Sample, samplesOf } from '../../../openapi/samples.ts';
import { type Mock, startMock } from '../src/index.ts';

// Every request that the reference shows, sent once.

const run = promisify(execFile);
const contract = createRequire(import.meta.url)('@trunkline/openapi/openapi.json') as Contract;
const operations = samplesOf(contract);
const PARALLEL = 4;

let mock: Mock;
let folder: string;
beforeAll(async () => {
  mock = await startMock();
  folder = await mkdtemp(path.join(tmpdir(), 'trunkline-samples-'));
  await writeFile(path.join(folder, 'handbook.pdf'), '%PDF-1.4');
});
afterAll(async () => {
  await mock.close();
  await rm(folder, { recursive: true });
});

/** Sends a sample of each operation, and returns those that were not taken as what they are a sample of. */
async function notTaken(label: string, send: (sample: Sample) => Promise<unknown>): Promise<string[]> {
  mock.reset();
  const faults: string[] = [];
  const left = operations.values();
  const sendNext = async () => {
    for (const { operation, samples } of left)
      await send(samples.find((each) => each.label === label)!).catch((error) =>
        faults.push(`${operation.operationId}: ${error.message}`),
      );
  };
  await Promise.all(Array.from({ length: PARALLEL }, sendNext));
  const taken = new Set(mock.requests.filter(({ status }) => status! < 300).map(({ operationId }) => operationId));
  const missing = operations.flatMap(({ operation: { operationId } }) =>
    taken.has(operationId as never) ? [] : operationId,
  );
  return [...faults, ...missing];
}

const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);
test.runIf(hasCurl)('by curl, which is needed for this', async () => {
  const env = { PATH: process.env['PATH'], TRUNKLINE_BASE_URL: mock.url, TRUNKLINE_API_KEY: 'any' };
  const send = ({ source }: Sample) =>
    run('sh', ['-c', source.replace(/^curl/, 'curl -sS --max-time 20')], { cwd: folder, env });
  expect(await notTaken('curl', send)).toEqual([]);
});

test('by the client', async () => {
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const start = () => createClient({ baseUrl: mock.url, apiKey: 'any' });
  const open = () => openAsBlob(path.join(folder, 'handbook.pdf'));
  const send = ({ source }: Sample) =>
    new AsyncFunction('createClient', 'openAsBlob', 'console', source.replaceAll(/^import .*\n/gm, ''))(start, open, {
      log: () => {},
    });
  expect(await notTaken('@trunkline/client', send)).toEqual([]);
});

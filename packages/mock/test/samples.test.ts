import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { createClient } from '@trunkline/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Contract, type Sample, samplesOf } from '../../../openapi/samples.ts';
import { createProgram } from '../../cli/src/program.ts';
import { run as runCli } from '../../cli/src/run.ts';
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
  for (const name of ['handbook.pdf', 'greeting.wav']) await writeFile(path.join(folder, name), '%PDF-1.4');
  await writeFile(path.join(folder, 'patients.csv'), 'phone\n+14155550142\n');
});
afterAll(async () => {
  await mock.close();
  await rm(folder, { recursive: true });
});

const sampleOf = (samples: Sample[], label: string) => samples.find((each) => each.label === label);

/** Sends a sample of each operation that has one, and returns those that were not taken as what they are a sample of. */
async function notTaken(label: string, send: (sample: Sample) => Promise<unknown>): Promise<string[]> {
  mock.reset();
  const faults: string[] = [];
  const shown = operations.filter(({ samples }) => sampleOf(samples, label));
  const left = shown.values();
  const sendNext = async () => {
    for (const { operation, samples } of left)
      await send(sampleOf(samples, label)!).catch((error) => faults.push(`${operation.operationId}: ${error.message}`));
  };
  await Promise.all(Array.from({ length: PARALLEL }, sendNext));
  const taken = new Set(mock.requests.filter(({ status }) => status! < 300).map(({ operationId }) => operationId));
  const missing = shown.flatMap(({ operation: { operationId } }) =>
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
  const open = (name: string) => openAsBlob(path.join(folder, name));
  const send = ({ source }: Sample) =>
    new AsyncFunction('createClient', 'openAsBlob', 'console', source.replaceAll(/^import .*\n/gm, ''))(start, open, {
      log: () => {},
    });
  expect(await notTaken('@trunkline/client', send)).toEqual([]);
});

/** A command line as a shell reads it. */
interface Line {
  words: string[];
  stdin: string;
}

/** Has one shell read all samples of the command line, each to its words and what it gives to standard input. */
async function readByShell(sources: string[]): Promise<Line[]> {
  const tell = `trunkline() { printf '%s\\0' "$#" "$@" "$(cat)"; }`;
  const reading = run('sh', ['-c', [tell, ...sources].join('\n')], { cwd: folder });
  reading.child.stdin!.end();
  const told = (await reading).stdout.split('\0').values();
  return sources.map(() => {
    const count = Number(told.next().value);
    const words = Array.from({ length: count }, () => told.next().value!);
    return { words, stdin: told.next().value! };
  });
}

test('by the command line, of which each command that asks the server once has a sample', async () => {
  const sources = operations.flatMap(({ samples }) => sampleOf(samples, 'trunkline')?.source ?? []);
  const lines = new Map((await readByShell(sources)).map((line, at) => [sources[at]!, line]));
  const env = { TRUNKLINE_BASE_URL: mock.url, TRUNKLINE_API_KEY: 'any' };
  const send = async ({ source }: Sample) => {
    const { words, stdin } = lines.get(source)!;
    let told = '';
    const screen = new Writable({
      write(chunk, _, done) {
        told += chunk;
        done();
      },
    });
    const code = await runCli(
      words.map((word) => (/\.(pdf|csv|wav)$/.test(word) ? path.join(folder, word) : word)),
      { stdin: Readable.from([stdin]), stdout: screen, stderr: screen, env, signal: AbortSignal.timeout(120_000) },
    );
    // With 1 it says that the agent of the example can't be reached.
    if (code > 1) throw new Error(`${source}: ${told}`);
  };
  expect(await notTaken('trunkline', send)).toEqual([]);

  const shown = new Set([...lines.values()].flatMap(({ words }) => [words[0], words.slice(0, 2).join(' ')]));
  const commands = createProgram({ env: {} } as never).commands.flatMap((group) =>
    group.commands.length > 0 ? group.commands.map((each) => `${group.name()} ${each.name()}`) : group.name(),
  );
  const several = [
    'login',
    'logout',
    'providers try',
    'why',
    'campaigns why',
    'calls follow',
    'webhooks listen',
    'dnc upload',
    'agents talk',
    'status',
  ];
  expect(commands.filter((each) => !shown.has(each)).toSorted()).toEqual(several.toSorted());
});

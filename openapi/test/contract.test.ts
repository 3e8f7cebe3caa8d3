import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CODES_BY_STATUS, PERMISSIONS } from '../rules/closed-lists.js';
import { OPERATIONS } from './operations-table.ts';

const here = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const run = promisify(execFile);
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const redocly = (...args: string[]) =>
  run(here('node_modules/.bin/redocly'), args, { cwd: here('.'), env, maxBuffer: 1e8 });

interface Example {
  value?: unknown;
}
interface Media {
  example?: unknown;
  examples?: Record<string, Example>;
}
interface Parameter extends Media {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
}
interface Reference {
  $ref?: string;
}
interface Response {
  content?: Record<string, Media>;
}
interface Operation {
  operationId: string;
  'x-permission': string;
  parameters?: (Parameter & Reference)[];
  responses: Record<string, Response & Reference>;
}
type PathItem = Record<string, Operation> & { parameters?: (Parameter & Reference)[] };
interface Contract {
  paths: Record<string, PathItem>;
  components: { schemas: Record<string, { enum?: string[] }> };
}

const bundlePath = join(tmpdir(), `trunkline-contract-${process.pid}.json`);
let contract: Contract;

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

const operationsOf = ({ paths }: Contract) =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      method: method.toUpperCase(),
      path,
      item,
      operation: item[method]!,
    })),
  );

/** What a reference inside the bundle stands for. */
function resolved<T extends Reference>(value: T): T {
  if (!value.$ref) return value;
  return value.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], contract) as T;
}

const examplesOf = ({ example, examples }: Media): unknown[] =>
  example === undefined ? Object.values(examples ?? {}).map(({ value }) => value) : [example];

beforeAll(async () => {
  await redocly('bundle', '--config', '../redocly.yaml', 'openapi.yaml', '-o', bundlePath);
  contract = JSON.parse(await readFile(bundlePath, 'utf8'));
}, 60_000);
afterAll(() => rm(bundlePath, { force: true }));

describe('the contract', () => {
  it('lints clean', async () => {
    const { stdout } = await redocly('lint', '--config', '../redocly.yaml', '--format', 'json', 'openapi.yaml');
    expect(JSON.parse(stdout).totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 });
  }, 60_000);

  it('holds every operation, and no other', () => {
    const found = operationsOf(contract).map(
      ({ method, path, operation }) => `${method} ${path} ${operation.operationId} ${operation['x-permission']}`,
    );
    const wanted = OPERATIONS.map(
      ({ method, path, operationId, permission }) => `${method} ${path} ${operationId} ${permission}`,
    );
    expect(found.sort()).toEqual(wanted.sort());
  });

  it.each(OPERATIONS)('declares the statuses of $operationId', ({ method, path, statuses }) => {
    const declared = Object.keys(contract.paths[path]![method.toLowerCase()]!.responses);
    expect(declared).toEqual(expect.arrayContaining(statuses));
    expect(declared.filter((status) => status.startsWith('2'))).toEqual(
      statuses.filter((status) => status.startsWith('2')),
    );
  });

  it('has the error codes and permissions that its rules know', () => {
    const codes = Object.values(CODES_BY_STATUS).flat();
    expect([...contract.components.schemas['ErrorCode']!.enum!].sort()).toEqual([...codes].sort());
    const grantable = PERMISSIONS.filter((permission) => permission !== 'authenticated');
    const lists = Object.values(contract.components.schemas).map((schema) => schema.enum ?? []);
    const granted = lists.find((list) => list.includes('audit_log:read')) ?? [];
    expect(granted.filter((permission) => permission !== '*').sort()).toEqual([...grantable].sort());
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the mock of the contract', () => {
  let prism: ChildProcess;
  let baseUrl: string;

  beforeAll(async () => {
    const port = await freePort();
    baseUrl = `http://127.0.0.1:${port}`;
    const args = ['mock', bundlePath, '--port', String(port), '--host', '127.0.0.1', '--errors'];
    prism = spawn(here('node_modules/.bin/prism'), args, { stdio: 'ignore' });
    for (let tries = 0; tries < 300; tries += 1) {
      if (await fetch(baseUrl).catch(() => undefined)) return;
      await sleep(100);
    }
    throw new Error('prism did not start');
  }, 60_000);
  afterAll(() => prism.kill());

  /** The request that a person who follows the examples sends. */
  function requestTo(path: string, parameters: Parameter[], accept: string): Request {
    const url = new URL(baseUrl + path);
    const headers: Record<string, string> = { 'X-API-Key': 'tl_test', Accept: accept };
    for (const parameter of parameters) {
      const value = String(examplesOf(parameter)[0]);
      if (parameter.in === 'path')
        url.pathname = decodeURI(url.pathname).replace(`{${parameter.name}}`, encodeURIComponent(value));
      else if (parameter.required && parameter.in === 'query') url.searchParams.set(parameter.name, value);
      else if (parameter.required) headers[parameter.name] = value;
    }
    return new Request(url, { headers });
  }

  it.each(OPERATIONS.filter(({ method }) => method === 'GET'))(
    'serves the example of $operationId, which fits its schema',
    async ({ path }) => {
      const item = contract.paths[path]!;
      const operation = item['get']!;
      const [type, media] = Object.entries(resolved(operation.responses['200']!).content!)[0]!;
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolved);
      const response = await fetch(requestTo(path, parameters, type));
      const text = await response.text();
      expect(response.headers.get('sl-violations')).toBeNull();
      expect([response.status, text]).toEqual([200, expect.any(String)]);
      const served = type === 'application/json' ? JSON.parse(text) : text;
      expect(examplesOf(media)).toContainEqual(served);
    },
  );

  it('answers 401 without a key, and 404 off the contract', async () => {
    expect((await fetch(`${baseUrl}/v1/calls`)).status).toBe(401);
    expect((await fetch(`${baseUrl}/v1/nothing`, { headers: { 'X-API-Key': 'x' } })).status).toBe(404);
  });
});

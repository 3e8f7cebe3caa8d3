import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../packages/sip/test/peers/peer-process.ts';
import { type Bundle, bundleContract, examplesOf, here, type Operation, type Parameter } from './bundle.ts';
import { OPERATIONS } from './operations-table.ts';

let bundle: Bundle;
let prism: ChildProcess;
let baseUrl: string;

beforeAll(async () => {
  bundle = await bundleContract();
  const port = await freePort();
  baseUrl = `http://127.0.0.1:${port}`;
  const args = ['mock', bundle.path, '--port', String(port), '--host', '127.0.0.1', '--errors'];
  prism = spawn(here('node_modules/.bin/prism'), args, { stdio: 'ignore' });
  for (let tries = 0; tries < 300; tries += 1) {
    if (await fetch(baseUrl).catch(() => undefined)) return;
    await sleep(100);
  }
  throw new Error('prism did not start');
});
afterAll(async () => {
  prism.kill();
  await bundle.remove();
});

function operationOf(path: string, method: string): Operation & { all: Parameter[] } {
  const item = bundle.contract.paths[path]!;
  const operation = item[method.toLowerCase()]!;
  return { ...operation, all: [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(bundle.resolved) };
}

/** The body that a person who follows the examples sends; files where the example names such. */
function exampleBody({ requestBody }: Operation): { body?: string | FormData; type?: string } {
  if (!requestBody) return {};
  const [type, media] = Object.entries(bundle.resolved(requestBody).content)[0]!;
  const value = examplesOf(media)[0];
  if (type === 'application/json') return { body: JSON.stringify(value), type };
  const body = new FormData();
  const { file, files = [file!] } = value as { file?: string; files?: string[] };
  for (const name of files) body.append(file === undefined ? 'files' : 'file', new Blob(['Open at 9 & 10.']), name);
  return { body };
}

/** The request of such a person. */
function requestTo(path: string, method: string, wanted: Record<string, string>): Request {
  const operation = operationOf(path, method);
  const url = new URL(baseUrl + path);
  const headers: Record<string, string> = { 'X-API-Key': 'tl_test', ...wanted };
  for (const parameter of operation.all) {
    const value = String(examplesOf(parameter)[0]);
    if (parameter.in === 'path')
      url.pathname = decodeURI(url.pathname).replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (parameter.required && parameter.in === 'query') url.searchParams.set(parameter.name, value);
    else if (parameter.required) headers[parameter.name] = value;
  }
  const { body, type } = exampleBody(operation);
  if (type) headers['Content-Type'] = type;
  return new Request(url, { method, headers, body: body ?? null });
}

/** The errors of an operation, but for those that another one further up shares with it. */
const seen = new Set<string>();
const ownErrors = ({ responses }: Operation) =>
  Object.entries(responses).filter(
    ([status, { $ref }]) => Number(status) >= 400 && ($ref === undefined || (!seen.has($ref) && seen.add($ref))),
  );

describe('the mock of the contract', () => {
  it.each(OPERATIONS.filter(({ method }) => method === 'GET'))(
    'serves the example of $operationId, which fits its schema',
    async ({ path }) => {
      const [type, media] = Object.entries(bundle.resolved(operationOf(path, 'get').responses['200']!).content!)[0]!;
      const response = await fetch(requestTo(path, 'GET', { Accept: type }));
      const text = await response.text();
      expect(response.headers.get('sl-violations')).toBeNull();
      expect([response.status, text]).toEqual([200, expect.any(String)]);
      const served = type === 'application/json' ? JSON.parse(text) : text;
      expect(examplesOf(media)).toContainEqual(served);
    },
  );

  it.each(OPERATIONS)('answers the statuses of $operationId with their own codes', async ({ path, method }) => {
    for (const [status, reference] of ownErrors(operationOf(path, method))) {
      const response = await fetch(requestTo(path, method, { Prefer: `code=${status}` }));
      const { code } = (await response.json()) as { code?: string };
      expect(response.status).toBe(Number(status));
      expect(bundle.resolved(reference)['x-error-codes']).toContain(code);
    }
  });

  it('takes the files of an upload', async () => {
    const response = await fetch(requestTo('/v1/knowledge-bases/{kbId}/documents', 'POST', {}));
    expect([response.status, response.headers.get('sl-violations')]).toEqual([201, null]);
  });

  it('answers 401 without a key, and 404 off the contract', async () => {
    expect((await fetch(`${baseUrl}/v1/calls`)).status).toBe(401);
    expect((await fetch(`${baseUrl}/v1/nothing`, { headers: { 'X-API-Key': 'x' } })).status).toBe(404);
  });
});

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
// No dependency of this package: the mock is made of its edge.
import { startMock } from '../../../../packages/mock/src/index.ts';
import { loadContract } from '../../src/foundation/http/app.ts';
import { type ContractDocument, operationsOf } from '../../src/foundation/http/contract.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { type NearRequest, nearRequests } from './near-requests.ts';

/** Of some 3,200. */
const COUNT = 2000;
const SEED = 12;
const AT_ONCE = 10;

const example = path.join(import.meta.dirname, '../../../../examples/contract-test');
let server: TestServer;
let mock: Awaited<ReturnType<typeof startMock>>;

beforeAll(async () => {
  // Answers of the server are checked by all other tests; here it would take most of the time.
  [server, mock] = await Promise.all([startTestServer({ validateResponses: 'off' }), startMock()]);
});
afterAll(() => Promise.all([server.stop(), mock.close()]));

/** With which status a request was refused for what it is, if it was. */
async function refusal(baseUrl: string, { method, path, request: { body, headers } }: NearRequest) {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      'X-API-Key': server.apiKey,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  if (response.headers.get('content-type') === 'text/event-stream') await response.body!.cancel();
  else await response.text();
  return [400, 413, 415].includes(response.status) ? response.status : 'none';
}

test('the mock accepts and refuses what the server does', { timeout: 300_000 }, async () => {
  // Without the mark, faults are made in what is judged item by item too.
  const text = JSON.stringify(loadContract(), (key, value) => (key === 'x-judged' ? undefined : value));
  const document = forValidator(JSON.parse(text) as ContractDocument);
  const all = operationsOf(document)
    // The server looks at files once it has found where they go, and there is nothing yet.
    .filter(({ body }) => !body?.types.includes('multipart/form-data'))
    .flatMap((operation) => nearRequests(document, operation));
  const several = fc.shuffledSubarray(all, { minLength: COUNT, maxLength: COUNT });
  const [chosen] = fc.sample(several, { seed: SEED, numRuns: 1 });
  const queue = chosen!.values();
  const seen = { accepted: 0, refused: 0 };
  const differ: unknown[] = [];
  const sender = async () => {
    for (const request of queue) {
      const [byServer, byMock] = await Promise.all([refusal(server.url, request), refusal(mock.url, request)]);
      seen[byServer === 'none' ? 'accepted' : 'refused'] += 1;
      if (byServer !== byMock) differ.push({ ...request, byServer, byMock });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  expect(differ).toEqual([]);
  expect(seen.accepted + seen.refused).toBe(COUNT);
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(COUNT / 6);
});

test.each(['a mock that it starts', 'the server'])(
  'the example of a contract test passes against %s',
  async (which) => {
    const real = which === 'the server' && { TRUNKLINE_BASE_URL: server.url, TRUNKLINE_API_KEY: server.apiKey };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=source', '--test', '--test-reporter=tap', 'contract.test.ts'],
      { cwd: example, env: { PATH: process.env['PATH'], ...real } },
    );
    expect(stdout).toContain('# pass 4\n# fail 0');
  },
);

import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
// No dependency of this package: the mock is made of its edge.
import { startMock } from '../../../../packages/mock/src/index.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { compareMock } from './compare-mock.ts';

/** Of all; mock.long.test.ts sends each of them. */
const COUNT = 800;

const example = path.join(import.meta.dirname, '../../../../examples/contract-test');
let server: TestServer;
let mock: Awaited<ReturnType<typeof startMock>>;

beforeAll(async () => {
  // Answers of the server are checked by all other tests; here it would take most of the time.
  [server, mock] = await Promise.all([startTestServer({ validateResponses: 'off' }), startMock()]);
});
afterAll(() => Promise.all([server.stop(), mock.close()]));

test('the mock accepts and refuses what the server does', { timeout: 300_000 }, () =>
  compareMock(server, mock.url, COUNT),
);

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

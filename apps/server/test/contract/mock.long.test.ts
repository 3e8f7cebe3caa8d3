import { test } from 'vitest';
// No dependency of this package: the mock is made of its edge.
import { startMock } from '../../../../packages/mock/src/index.ts';
import { startTestServer } from '../server.ts';
import { compareMock } from './compare-mock.ts';

test('the mock accepts and refuses what the server does, each of all requests', async () => {
  const [server, mock] = await Promise.all([startTestServer({ validateResponses: 'off' }), startMock()]);
  await compareMock(server, mock.url, Number.POSITIVE_INFINITY);
  await Promise.all([server.stop(), mock.close()]);
});

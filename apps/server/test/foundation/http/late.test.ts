import { expect, test } from 'vitest';
import { startTestServer } from '../../server.ts';

test('a server that is late with its work says so, and takes requests', async () => {
  let late = 0;
  const server = await startTestServer({ loopDelay: { worstMs: () => late, close: () => {} } });
  const get = async (path: string) => (await fetch(server.url + path)).text();
  expect(await get('/readyz')).toBe('ok\n');
  late = 2345;
  expect(await get('/readyz')).toMatch(/^ok\nthis process was 2\.3 s late .*\n$/);
  expect(await get('/metrics')).toMatch(/^trunkline_warnings 1$/m);
  await server.stop();
});

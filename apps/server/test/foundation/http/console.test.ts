import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test('the console is a page at each of its addresses, which nobody keeps, and which may load nothing from elsewhere', async () => {
  for (const path of ['/console', '/console/', '/console/campaigns/cmp_1?state=done', '/console/calls']) {
    const answer = await fetch(server.url + path);
    expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([path, 200, 'no-store']);
    const policy = answer.headers.get('content-security-policy')!;
    expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const html = await answer.text();
    expect(html).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=/);
  }
});

test('what the page loads is kept for ever, compressed, and never the page itself', async () => {
  const html = await (await fetch(`${server.url}/console`)).text();
  const [, script] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(html)!;
  const answer = await fetch(server.url + script, { headers: { 'Accept-Encoding': 'br' } });
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect([answer.headers.get('content-encoding'), answer.headers.get('content-type')]).toEqual([
    'br',
    'text/javascript; charset=utf-8',
  ]);
  await answer.arrayBuffer();
  expect((await fetch(`${server.url}/console/assets/of-yesterday.js`)).status).toBe(404);
  expect((await fetch(`${server.url}/console/assets/..%2Findex.html`)).status).toBe(404);
});

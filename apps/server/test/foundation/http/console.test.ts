import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileOrigin } from '../../../src/foundation/objects/file-origin.ts';
import { openS3ObjectStore } from '../../../src/foundation/objects/s3.ts';
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
    expect(policy.replaceAll(server.url, '')).not.toMatch(/unsafe|https?:|\*/);
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

test('the page may send files to where the server has them sent, which is this server', async () => {
  const { uploadUrl } = await server.client.contactLists.create({ name: 'People' });
  const policy = (await fetch(`${server.url}/console`)).headers.get('content-security-policy')!;
  expect(policy).toContain(`connect-src 'self' ${new URL(uploadUrl).origin};`);
  expect(policy).toContain(`media-src 'self' blob: ${new URL(uploadUrl).origin};`);
});

test.each([
  [{ bucket: 'people', region: 'eu-central-1' }, 'https://people.s3.eu-central-1.amazonaws.com'],
  [{ bucket: 'people.of.ours', region: 'us-east-1' }, 'https://s3.us-east-1.amazonaws.com'],
  [
    { bucket: 'people', region: 'us-east-1', endpoint: 'http://files.example.com:9000' },
    'http://files.example.com:9000',
  ],
])('or S3, where files are kept there: %o', async (place, origin) => {
  const objects = await openS3ObjectStore({ ...place, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
  expect(await fileOrigin(objects)).toBe(origin);
});

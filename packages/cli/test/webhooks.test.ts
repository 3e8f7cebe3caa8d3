import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { webhooks } from '@trunkline/client';
import { expect, onTestFinished, test } from 'vitest';
import { cli, client, json, start } from './cli.ts';

/** A program of the developer, on this machine. Keeps what it was sent. */
async function application(status = 200) {
  const received: { headers: Record<string, string>; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

/** The endpoint that listening has made. */
async function endpoint() {
  const { items } = await client().webhooks.list();
  return items.find(({ description }) => description === 'trunkline webhooks listen');
}

test('listen shows what happens and forwards it, signed, and leaves no endpoint behind', async () => {
  const { url, received } = await application();
  const listening = start(['webhooks', 'listen', '--forward-to', url, '--events', 'upload.*,call.ended']);
  await expect.poll(listening.stderr).toMatch(/Signed with this secret, which ends with it:\n {2}whsec_\S+\n/);
  const [, secret = ''] = /(whsec_\S+)/.exec(listening.stderr()) ?? [];
  const { list } = await client().contactLists.upload({ name: 'Told', file: 'phone\n+14155550100\n' });
  await expect.poll(listening.stdout).toMatch(/Z {2}upload\.validated {2}\S+ {2}→ 200\n/);
  expect(await webhooks.unwrap(received[0]!.body, received[0]!.headers, secret)).toMatchObject({
    type: 'upload.pending',
  });
  const { url: target } = (await endpoint())!;
  const forged = await fetch(target, { method: 'POST', body: '{}' });
  expect(forged.status).toBe(400);
  const { port } = new URL(target);
  const broken = connect(Number(port), '127.0.0.1');
  const part = 'POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 99\r\n\r\nabc';
  broken.write(part, () => broken.destroy());
  await once(broken, 'close');
  expect((await fetch(target, { method: 'POST', body: '{}' })).status).toBe(400);
  listening.interrupt();
  const { code, stdout } = await listening.ended;
  expect(code).toBe(130);
  expect(stdout).not.toContain('whsec_');
  expect(await endpoint()).toBeUndefined();
  await client().contactLists.delete(list.id);
});

test('listen signs with the secret of the environment, and tells what the application answers', async () => {
  const { url, received } = await application(503);
  const secret = `whsec_${Buffer.from('a secret of thirty-two characters').toString('base64')}`;
  const listening = start(['webhooks', 'listen', '--forward-to', url, '--json'], {
    env: { TRUNKLINE_WEBHOOK_SECRET: secret },
  });
  await expect.poll(listening.stderr).toContain('Signed with your TRUNKLINE_WEBHOOK_SECRET.');
  expect(listening.stderr()).not.toContain('whsec_');
  const { id } = (await endpoint())!;
  const tried = await cli(['webhooks', 'test', id]);
  expect(tried.code).toBe(1);
  expect(tried.stdout).toMatch(/^lastStatusCode +503$/m);
  expect(await webhooks.unwrap(received[0]!.body, received[0]!.headers, secret)).toMatchObject({
    type: 'webhook.test',
  });
  await expect.poll(listening.stdout).toContain('"forwarded":"503"');
  listening.interrupt();
  await listening.ended;
});

test('where the server may not reach this machine, listen says what is needed', async () => {
  const { code, stderr } = await cli(['webhooks', 'listen', '--public-url', 'http://10.1.2.3/hook']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/url/);
  expect(await endpoint()).toBeUndefined();
});

test('endpoints are made, shown, changed, tested and deleted', async () => {
  const { url, received } = await application();
  const made = await json<{ id: string; secret: string }>(
    'webhooks',
    'create',
    '--url',
    url,
    '--event-types',
    'call.*',
  );
  expect(made.secret).toMatch(/^whsec_/);
  expect(await json('webhooks', 'test', made.id)).toMatchObject({ status: 'delivered' });
  expect(received).toHaveLength(1);
  expect((await cli(['webhooks', 'deliveries', made.id])).stdout).toMatch(/delivered +webhook\.test +200/);
  expect(await json('webhooks', 'update', made.id, '--status', 'disabled')).toMatchObject({ status: 'disabled' });
  expect(await json('webhooks', 'show', made.id)).not.toHaveProperty('secret');
  expect((await cli(['webhooks', 'list'])).stdout).toMatch(new RegExp(`^${made.id} +disabled`, 'm'));
  await json('webhooks', 'delete', made.id);
});

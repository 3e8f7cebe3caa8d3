import { afterEach, beforeEach, expect, test } from 'vitest';
import { createNames } from '../../src/foundation/outbound-http/names.ts';
import { keyWith } from '../platform/api-keys/keys.ts';
import { createEndpoint, sendsToLoopback, startReceiver } from '../platform/webhooks/receiver.ts';
import { startTestServer } from '../server.ts';
import { until } from '../until.ts';
import { startNameServer } from './name-server.ts';

let dns: Awaited<ReturnType<typeof startNameServer>>;
beforeEach(async () => {
  dns = await startNameServer({ 'crm.example': '127.0.0.1' });
});
afterEach(() => dns.stop());

test('names whose name servers are dead stop no webhook test of another workspace', async () => {
  const receiver = await startReceiver();
  const server = await startTestServer({ config: sendsToLoopback, nameServers: [dns.address] });
  const quiet = { client: server.clientOf(await keyWith(server, { permissions: ['*'], workspace: 'Quiet' })) };
  const send = ({ client }: typeof quiet, webhookId: string) =>
    client.POST('/v1/webhooks/{webhookId}/test', { params: { path: { webhookId } } });
  const dead: string[] = [];
  for (let at = 0; at < 50; at += 1)
    dead.push((await createEndpoint(server, `https://dead${at}.example/`, ['call.ended'])).id);
  // Its name is known, and leads to a server that speaks no TLS.
  const { port } = new URL(receiver.url);
  const live = await createEndpoint(quiet, `https://crm.example:${port}/`, ['call.ended']);
  let answered = 0;
  const tests = dead.map((id) =>
    send(server, id).then(({ data }) => {
      answered += 1;
      return data!.data;
    }),
  );
  await until(() => expect(new Set(dns.asked.filter((each) => each.startsWith('A dead'))).size).toBe(50));
  const { data } = await send(quiet, live.id);
  expect(data!.data).toMatchObject({
    lastError: expect.stringMatching(/^No connection to crm\.example:\d+: E[A-Z_]*(SSL|PROTO)/),
  });
  expect(answered).toBe(0);
  for (const delivery of await Promise.all(tests))
    expect(delivery).toMatchObject({ status: 'failed', lastError: expect.stringContaining('name server') });
  await server.stop();
  await receiver.stop();
});

test('a name is asked for once at a time, and not again soon where it has no address', async () => {
  const names = createNames([dns.address]);
  const all = await Promise.all(Array.from({ length: 20 }, (_, at) => names.resolve('CRM.example', `w${at}`)));
  expect(all).toEqual(Array(20).fill([{ address: '127.0.0.1', family: 4 }]));
  expect(dns.asked.toSorted()).toEqual(['A crm.example', 'AAAA crm.example']);
  // What has changed is seen at the next question.
  await names.resolve('crm.example', 'ours');
  expect(dns.asked).toHaveLength(4);
  for (const key of ['ours', 'theirs'])
    await expect(names.resolve('no.example', key)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(dns.asked).toHaveLength(6);
});

test('of the questions one who asks a thousand has half, and nobody waits for them', async () => {
  const names = createNames([dns.address]);
  const dead = Array.from({ length: 1000 }, (_, at) =>
    names.resolve(`dead${at}.example`, 'noisy').catch(({ code }) => code),
  );
  // Also of the name that is behind all others.
  const own = names.resolve('crm.example', 'noisy').catch(() => undefined);
  expect([names.questions.underWay(), names.questions.waiting()]).toEqual([64, 937]);
  expect(await names.resolve('crm.example', 'quiet')).toHaveLength(1);
  expect(names.questions.underWay()).toBe(64);
  names.questions.drop();
  await Promise.all([own, ...dead.slice(64)]);
});

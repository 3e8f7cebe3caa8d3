import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

/** A resource that clients change, how one is made, and two changes of it. */
interface Changed {
  name: string;
  /** Makes one, and answers its path. */
  make(): Promise<string>;
  method?: 'PUT';
  changes: [object, object];
}

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'X-API-Key': server.apiKey, ...(body && { 'Content-Type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, tag: response.headers.get('etag'), json: text && JSON.parse(text) };
}

/** Makes something, whose answer has the tag of a new resource. */
async function made(path: string, body: object) {
  const { status, tag, json } = await send('POST', path, body);
  expect({ status, tag }).toEqual({ status: 201, tag: '"1"' });
  return json.data ?? json;
}

const names: [object, object] = [{ name: 'First' }, { name: 'Second' }];
const resources: Changed[] = [
  {
    name: 'agent',
    make: async () => {
      const connection = { type: 'stream', url: 'wss://agents.example.com/reception' };
      return `/v1/agents/${(await made('/v1/agents', { name: 'Anna', connection })).agent.id}`;
    },
    changes: names,
  },
  {
    name: 'number pool',
    make: async () => `/v1/number-pools/${(await made('/v1/number-pools', { name: 'Pool' })).id}`,
    changes: names,
  },
  {
    name: 'webhook',
    make: async () => {
      const body = { url: 'https://hooks.example.com', eventTypes: ['call.ended'] };
      return `/v1/webhooks/${(await made('/v1/webhooks', body)).id}`;
    },
    changes: [{ description: 'First' }, { description: 'Second' }],
  },
  {
    name: 'knowledge base',
    make: async () => `/v1/knowledge-bases/${(await made('/v1/knowledge-bases', { name: 'Base' })).id}`,
    changes: names,
  },
];

describe.each(resources)('$name', ({ make, method = 'PATCH', changes: [first, second] }) => {
  test('is changed in the edition that was read, and not in an old one', async () => {
    const path = await make();
    const read = await send('GET', path);
    expect(read).toMatchObject({ status: 200, tag: expect.stringMatching(/^"[!#-~]+"$/) });
    const old = { 'If-Match': read.tag! };
    const changed = await send(method, path, first, old);
    expect(changed.status).toBe(200);
    expect(changed.tag).not.toBe(read.tag);
    const refused = await send(method, path, second, old);
    expect(refused).toMatchObject({ status: 412, tag: changed.tag, json: { code: 'changed_meanwhile' } });
    expect(await send('GET', path)).toEqual(changed);

    const without = await send(method, path, second);
    expect(without.status).toBe(200);
    expect([read.tag, changed.tag]).not.toContain(without.tag);
    const now = { 'If-Match': `W/"none", "none" , ${without.tag}` };
    expect((await send(method, path, first, now)).status).toBe(200);
    expect((await send(method, path, first, { 'If-Match': '*' })).status).toBe(200);
  });

  test('takes one of a hundred changes of one edition', async () => {
    const path = await make();
    const { tag } = await send('GET', path);
    const racing = Array.from({ length: 100 }, (_, at) =>
      send(method, path, at % 2 ? first : second, { 'If-Match': tag! }),
    );
    const answers = await Promise.all(racing);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 99 }, () => 412)]);
    const [won] = answers.filter(({ status }) => status === 200);
    for (const lost of answers.filter(({ status }) => status === 412)) expect(lost.tag).toBe(won!.tag);
    expect(await send('GET', path)).toEqual(won);
  });
});

test('a weak tag matches nothing, and what is no tag is refused', async () => {
  const path = await resources[1]!.make();
  const change = (ifMatch: string) => send('PATCH', path, { name: 'Changed' }, { 'If-Match': ifMatch });
  for (const none of ['W/"1"', '"2"', '""', '"*"'])
    expect(await change(none)).toMatchObject({ status: 412, tag: '"1"' });
  for (const wrong of ['1', '"1', 'w/"1"', '*, "1"', '"1" "2"', '"1",', '']) {
    const { status, json } = await change(wrong);
    expect([wrong, status, json.details?.[0].path]).toEqual([wrong, 400, '/headers/If-Match']);
  }
  expect((await change('"1"')).tag).toBe('"2"');
});

test('what is not there is 404 with any tag', async () => {
  const path = await resources[1]!.make();
  expect((await send('DELETE', path)).status).toBe(200);
  for (const ifMatch of ['"1"', '*'])
    expect((await send('PATCH', path, { name: 'Gone' }, { 'If-Match': ifMatch })).status).toBe(404);
});

test('no answer is 304, and what lies outside the contract has no tag that is made for the occasion', async () => {
  const path = await resources[1]!.make();
  for (const tag of ['"1"', '*']) {
    const read = await send('GET', path, undefined, { 'If-None-Match': tag });
    expect(read).toMatchObject({ status: 200, tag: '"1"' });
  }
  for (const outside of ['/livez', '/readyz', '/metrics'])
    expect((await fetch(server.url + outside)).headers.get('etag')).toBeNull();
});

test('a change by another operation counts', async () => {
  const hook = await resources[2]!.make();
  expect((await send('POST', `${hook}/rotate-secret`)).tag).toBe('"2"');
  expect((await send('GET', hook)).tag).toBe('"2"');

  const [from, to] = [await resources[1]!.make(), await resources[1]!.make()];
  const bought = await send('POST', '/v1/telephony/phone-numbers/buy', {
    phoneNumber: '+12125550100',
    provider: 'simulator',
  });
  const added = await send('PATCH', from, { addPhoneNumberIds: [bought.json.id] }, { 'If-Match': '"1"' });
  expect(added.tag).toBe('"2"');
  const move = { phoneNumberId: bought.json.id, targetPoolId: to.split('/').at(-1) };
  expect((await send('POST', `${from}/members/move`, move)).status).toBe(200);
  expect((await send('GET', from)).tag).toBe('"3"');
  expect((await send('GET', to)).tag).toBe('"2"');
});

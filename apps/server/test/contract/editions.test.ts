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

let nextNumber = 12125550100;
const boughtNumber = () =>
  made('/v1/telephony/phone-numbers/buy', { phoneNumber: `+${nextNumber++}`, provider: 'simulator' });
const madeList = async (): Promise<string> => (await made('/v1/calls/contact-lists', { name: 'People' })).id;
const madeAgent = async (): Promise<string> => {
  const connection = { type: 'stream', url: 'wss://agents.example.com/reception' };
  return (await made('/v1/agents', { name: 'Anna', connection })).agent.id;
};
const addEntry = (listId: string, name: string) =>
  send('POST', `/v1/calls/contact-lists/${listId}/entries`, { entries: [{ phoneNumber: '+12125550190', name }] });
/** A campaign of one person. */
async function madeCampaign(): Promise<string> {
  const listId = await madeList();
  expect((await addEntry(listId, 'Ann')).status).toBe(200);
  const campaign = await made('/v1/calls/campaigns', {
    name: 'Campaign',
    agentId: await madeAgent(),
    fromNumber: (await boughtNumber()).phoneNumber,
    lists: [{ id: listId, role: 'contacts' }],
  });
  return `/v1/calls/campaigns/${campaign.id}`;
}
const draft = (name: string) => ({
  name,
  startNodeId: 'end',
  nodes: [{ id: 'end', type: 'end', title: 'End', status: 'completed' }],
});

const names: [object, object] = [{ name: 'First' }, { name: 'Second' }];
const resources: Changed[] = [
  {
    name: 'agent',
    make: async () => `/v1/agents/${await madeAgent()}`,
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
  { name: 'workspace', make: async () => '/v1/workspace', changes: names },
  {
    name: 'trunk',
    make: async () => {
      const body = { terminationUrl: `sip:${nextNumber++}.ok.sim` };
      return `/v1/telephony/trunks/${(await made('/v1/telephony/trunks', body)).id}`;
    },
    changes: [{ maxChannels: 1 }, { maxChannels: 2 }],
  },
  {
    name: 'phone number',
    make: async () => `/v1/telephony/phone-numbers/${(await boughtNumber()).id}`,
    changes: [{ label: 'First' }, { label: 'Second' }],
  },
  {
    name: 'workflow',
    make: async () => `/v1/workflows/${(await made('/v1/workflows', draft('Workflow'))).id}`,
    method: 'PUT',
    changes: [draft('First'), draft('Second')],
  },
  { name: 'campaign', make: madeCampaign, changes: names },
  { name: 'contact list', make: async () => `/v1/calls/contact-lists/${await madeList()}`, changes: names },
  {
    name: 'upload of a contact list',
    make: async () => {
      const list = await made('/v1/calls/contact-lists', { name: 'People' });
      return `/v1/calls/contact-lists/${list.id}/uploads/${list['uploadDetails'].id}`;
    },
    changes: [{ phoneColumns: ['Mobile'] }, { phoneColumns: ['Home'] }],
  },
  {
    name: 'entry of a contact list',
    make: async () => {
      const listId = await madeList();
      expect((await addEntry(listId, 'Ann')).status).toBe(200);
      return `/v1/calls/contact-lists/${listId}/entries/+12125550190`;
    },
    changes: names,
  },
  {
    name: 'member',
    make: async () => {
      const body = { email: `${nextNumber++}@example.com`, role: 'manager' };
      return `/v1/members/${(await made('/v1/members', body)).id}`;
    },
    changes: [{ role: 'viewer' }, { role: 'developer' }],
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
  const number = await boughtNumber();
  const added = await send('PATCH', from, { addPhoneNumberIds: [number.id] }, { 'If-Match': '"1"' });
  expect(added.tag).toBe('"2"');
  const move = { phoneNumberId: number.id, targetPoolId: to.split('/').at(-1) };
  expect(await send('POST', `${from}/members/move`, move)).toMatchObject({ status: 200, tag: '"1"' });
  expect((await send('GET', from)).tag).toBe('"3"');
  expect((await send('GET', to)).tag).toBe('"2"');

  const trunk = await resources[5]!.make();
  const short = {
    phoneNumbers: ['+12125550191'],
    sipConfig: { terminationUrl: (await send('GET', trunk)).json.terminationUrl },
  };
  const { json } = await send('POST', '/v1/telephony/phone-numbers/import/manual', short);
  const imported = `/v1/telephony/phone-numbers/${json.imported[0].id}`;
  expect((await send('GET', trunk)).tag).toBe('"1"');
  expect(
    (await send('PATCH', imported, { sipConfig: { ipAllowlist: ['203.0.113.1'] } }, { 'If-Match': '"1"' })).tag,
  ).toBe('"2"');
  expect((await send('GET', trunk)).tag).toBe('"2"');

  const { tag } = await send('PATCH', '/v1/workspace', { trustedNumbers: ['+12125550192'] });
  expect((await send('POST', '/v1/erasures', { phoneNumber: '+12125550192' })).status).toBe(202);
  const again = { trustedNumbers: ['+12125550192'] };
  expect((await send('PATCH', '/v1/workspace', again, { 'If-Match': tag! })).status).toBe(412);
});

test('an entry that went and came again has another tag, and one that comes with what it has keeps it', async () => {
  const list = await madeList();
  const entry = `/v1/calls/contact-lists/${list}/entries/+12125550190`;
  await addEntry(list, 'Ann');
  const { tag } = await send('GET', entry);
  await addEntry(list, 'Ann');
  expect((await send('GET', entry)).tag).toBe(tag);
  expect((await send('DELETE', entry)).status).toBe(200);
  await addEntry(list, 'Bea');
  expect((await send('PATCH', entry, { name: 'Ann again' }, { 'If-Match': tag! })).status).toBe(412);
});

test('what the service moves leaves the edition, and its answers have it', async () => {
  const campaign = await madeCampaign();
  expect((await send('PATCH', campaign, { name: 'Second', maxConcurrency: 1 })).tag).toBe('"2"');
  for (const act of ['start', 'pause', 'resume', 'stop'])
    expect(await send('POST', `${campaign}/${act}`)).toMatchObject({ status: 200, tag: '"2"' });
  expect((await send('GET', campaign)).tag).toBe('"2"');

  const { tag } = await send('GET', '/v1/workspace');
  for (const act of ['pause-dialing', 'resume-dialing'])
    expect(await send('POST', `/v1/workspace/${act}`)).toMatchObject({ status: 200, tag });
  const trunk = await resources[5]!.make();
  for (const act of ['pause', 'resume'])
    expect(await send('POST', `${trunk}/${act}`)).toMatchObject({ status: 200, tag: '"1"' });
});

test('the draft of a workflow has the revision that its body may name as well', async () => {
  const path = await resources[7]!.make();
  const { json } = await send('GET', path);
  expect((await send('GET', path)).tag).toBe(`"${json.data.draftRevision}"`);
  const body = { ...draft('First'), draftRevision: json.data.draftRevision };
  expect((await send('PUT', path, body)).status).toBe(200);
  expect(await send('PUT', path, body)).toMatchObject({ status: 409, json: { code: 'invalid_state' } });
});

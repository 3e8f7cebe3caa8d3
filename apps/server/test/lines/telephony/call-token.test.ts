import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { addFiles, createBase, settled } from '../../voices/knowledge-bases/documents.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import { type Carrier, startCarrier } from './carrier.ts';

const FROM = '+14155550100';
const HOUR_MS = 3600_000;
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };
const stays = async (_call: unknown, answer: () => Promise<unknown>) => void (await answer());

let carrier: Carrier;
let agent: Agent;
let server: TestServer;
beforeAll(async () => {
  carrier = await startCarrier(() => stays);
  agent = await startAgent();
  const rtpPortMin = 31_000 + 2 * Math.floor(Math.random() * 4000);
  server = await startTestServer({
    config: {
      ...{ drainSeconds: 0, sipHost: '127.0.0.1', sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 99 },
      ...{ sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback },
    },
  });
});
afterAll(async () => {
  await server.stop();
  await agent.stop();
  await carrier.stop();
});

/** Sends a request with whatever stands for a key, and answers with its status and body. */
async function ask(method: string, path: string, headers: Record<string, string>, body?: object | string) {
  const type = typeof body === 'string' ? 'application/x-www-form-urlencoded' : 'application/json';
  const response = await fetch(server.url + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'Content-Type': type }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return [response.status, await response.json()] as const;
}

test('an agent is told of its call, and its token opens what is the call of its own', async () => {
  const { client, clock } = server;
  const [open, other] = [await createBase(server, 'Hours'), await createBase(server, 'Prices')];
  await addFiles(server, open, { 'hours.txt': 'On Saturdays we are open from 9 to 13.' });
  await settled(server, open);
  const connection = { type: 'stream' as const, url: agent.url };
  const made = await client.POST('/v1/agents', {
    body: { name: 'Anna', connection, knowledgeBaseIds: [open] },
  });
  const agentId = made.data!.data.agent.id;
  const trunk = await client.POST('/v1/telephony/trunks', { body: { terminationUrl: `127.0.0.1:${carrier.port}` } });
  await client.POST('/v1/telephony/phone-numbers/import/manual', {
    body: { phoneNumbers: [FROM], trunkId: trunk.data!.id },
  });
  const { error } = await client.POST('/v1/calls', {
    body: {
      ...{
        toNumber: '+14155550111',
        fromNumber: FROM,
        agentId,
        tags: ['spring'],
        metadata: { crm: '7' },
        externalId: 'x-1',
      },
      variables: { to: 'the dentist', trunkline: 'mine' },
    },
    params: { header: { 'Idempotency-Key': 'one' } },
  });
  expect(error).toBeUndefined();
  await until(() => agent.of('start').length === 1);

  const { start } = agent.of('start')[0]!;
  const { trunkline, ...said } = start!.customParameters;
  // A column of the contact is the user's own word.
  const numbers = { from: FROM, from_number: FROM, to_number: '+14155550111' };
  expect(said).toEqual({ direction: 'outbound', to: 'the dentist', ...numbers });
  const { token, ...told } = JSON.parse(trunkline!);
  expect(told).toEqual({
    ...{ externalId: 'x-1', attempt: 1, metadata: { crm: '7' }, tags: ['spring'], agentId },
    ...{ knowledgeBaseIds: [open], apiUrl: server.url },
  });

  const { callSid, accountSid } = start!;
  const byToken = { 'X-API-Key': token };
  const basic = (user: string, password: string) => ({
    Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  });
  const forbidden = [403, { code: 'forbidden', error: expect.stringContaining("A call's token opens") }];
  const search = (kbId: string) => ask('POST', `/v1/knowledge-bases/${kbId}/search`, byToken, { query: 'saturdays' });
  expect(await search(open)).toMatchObject([200, { data: { passages: [{ fileName: 'hours.txt' }] } }]);
  expect(await search(other)).toMatchObject([403, { error: expect.stringContaining('not attached') }]);
  const result = { converted: true };
  expect(await ask('POST', `/v1/calls/${callSid}/result`, byToken, result)).toMatchObject([200, { result }]);
  // Nothing else: neither of its own call, nor of another one, nor of the workspace.
  const another = callSid.replace(/.{4}$/, '0000');
  expect(await ask('GET', `/v1/calls/${callSid}`, byToken)).toMatchObject(forbidden);
  expect(await ask('POST', `/v1/calls/${another}/result`, byToken, result)).toMatchObject(forbidden);
  expect(await ask('POST', `/v1/calls/${another}/end`, byToken)).toMatchObject(forbidden);
  expect(await ask('GET', '/v1/calls', byToken)).toMatchObject(forbidden);
  expect(await ask('POST', '/v1/calls', byToken, {})).toMatchObject(forbidden);
  expect(await ask('GET', '/v1/agents', byToken)).toMatchObject(forbidden);
  const changed = `${token.slice(0, -8)}AAAAAAAA`;
  expect(await ask('POST', `/v1/calls/${callSid}/end`, { 'X-API-Key': changed })).toMatchObject([401, {}]);

  // As Pipecat's serializer hangs up, which sends a form and credentials of HTTP.
  const hangUp = `/2010-04-01/Accounts/${accountSid}/Calls/${callSid}.json`;
  const completed = (headers: Record<string, string>, path = hangUp) => ask('POST', path, headers, 'Status=completed');
  expect(await completed(basic(accountSid, 'an-auth-token'))).toMatchObject([401, {}]);
  expect(await completed({})).toMatchObject([401, {}]);
  expect(await completed(basic(accountSid, token), hangUp.replace(callSid, another))).toMatchObject(forbidden);
  expect(await completed(basic('', token), hangUp.replace(accountSid, `ws_${'0'.repeat(32)}`))).toMatchObject([
    404,
    {},
  ]);
  expect(await ask('POST', hangUp, basic(accountSid, token), 'Status=busy')).toMatchObject([400, {}]);
  // The other paths take no credentials of HTTP.
  expect(await ask('POST', `/v1/calls/${callSid}/end`, basic(accountSid, token))).toMatchObject([401, {}]);
  const ended = { account_sid: accountSid, sid: callSid, status: 'completed' };
  expect(await completed(basic(accountSid, token))).toEqual([200, ended]);
  await carrier.calls[0]!.call.ended;
  expect(await completed(basic(accountSid, token))).toEqual([200, ended]);
  expect(await ask('POST', `/v1/calls/${callSid}/end`, byToken)).toMatchObject([409, { code: 'call_not_active' }]);

  // Who did it was no key.
  const { data: log } = await client.GET('/v1/audit-log', { params: { query: { resourceId: callSid } } });
  expect(log!.data.items.map(({ action, apiKeyName }) => [action, apiKeyName])).toEqual([
    ['call.ended', undefined],
    ['call.result_recorded', undefined],
    ['call.created', 'First key'],
  ]);

  clock.advance(HOUR_MS - 60_000);
  expect(await ask('POST', `/v1/calls/${callSid}/result`, byToken, result)).toMatchObject([200, {}]);
  clock.advance(60_000);
  expect(await ask('POST', `/v1/calls/${callSid}/result`, byToken, result)).toMatchObject([401, {}]);
  expect(await search(open)).toMatchObject([401, {}]);
});

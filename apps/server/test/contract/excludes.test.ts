import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { type Operation, operationsOf, resolve } from '../../src/foundation/http/contract.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';
import { startTestServer, type TestServer } from '../server.ts';

interface Schema {
  $ref?: string;
  oneOf?: Schema[];
  'x-excludes'?: Record<string, string[]>;
}

const document = forValidator(loadContract());
const resolved = (schema: Schema) => resolve(document, schema);

/** The pairs of fields that the contract says exclude each other in an operation's body. */
function pairsOf({ body }: Operation): string[] {
  const schema = resolved((body?.schema ?? {}) as Schema);
  const excluding = [schema, ...(schema.oneOf ?? []).map(resolved)].flatMap((shape) =>
    Object.entries(shape['x-excludes'] ?? {}),
  );
  return [...new Set(excluding.flatMap(([one, others]) => others.map((other) => `${one} ${other}`)))];
}
const cases = operationsOf(document).flatMap((operation) =>
  pairsOf(operation).map((pair) => ({ operation, id: operation.id, pair })),
);

let server: TestServer;
const idOf: Record<string, string> = {};
const values: Record<string, unknown> = {
  callingWindows: [{ days: [1], start: 540, end: 1080 }],
  ...{ scheduleStart: 540, scheduleEnd: 1080, scheduleDays: [1] },
  ...{ outboundTermination: 'ok.sim', phoneNumbers: ['+14155550298'], name: 'Another', agentId: 'agent_a' },
  recipients: [{ phoneNumber: '+14155550100' }],
};

beforeAll(async () => {
  server = await startTestServer();
  const { phoneNumbers, numberPools, contactLists, campaigns } = server.client;
  const sipConfig = { terminationUrl: 'ok.sim' };
  const { imported } = await phoneNumbers.import({ phoneNumbers: ['+14155550299'], sipConfig });
  const [{ id, phoneNumber: fromNumber, trunkId }] = imported as [(typeof imported)[number]];
  const pool = await numberPools.create({ name: 'Pool' });
  const list = await contactLists.create({ name: 'People' });
  await contactLists.addEntries(list.id, { entries: [{ phoneNumber: '+14155550100' }] });
  const lists = [{ id: list.id, role: 'contacts' as const }];
  const campaign = await campaigns.create({ name: 'Campaign', agentId: 'agent_a', fromNumber, lists });
  Object.assign(idOf, { updatePhoneNumber: id, updateNumberPool: pool.id, updateCampaign: campaign.id });
  const members = { phoneNumberIds: [id], addPhoneNumberIds: [id], removePhoneNumberIds: [id] };
  Object.assign(values, { fromNumber, numberPoolId: pool.id, trunkId, lists, ...members });
});
afterAll(() => server.stop());

const needed: Record<string, string[]> = {
  importPhoneNumbers: ['phoneNumbers'],
  createCampaign: ['name', 'agentId', 'fromNumber', 'lists'],
  startBatch: ['agentId', 'fromNumber', 'recipients'],
};

test.each(cases)('$id refuses $pair in one body, and names both', async ({ operation, id, pair }) => {
  const pick = (names: string[]) => Object.fromEntries(names.map((name) => [name, values[name]]));
  const sipConfig = id === 'importPhoneNumbers' ? { terminationUrl: 'ok.sim' } : { username: 'a' };
  const body = {
    ...pick(needed[id] ?? []),
    ...pick(pair.split(' ')),
    ...(pair.endsWith('sipConfig') && { sipConfig }),
  };
  const response = await fetch(server.url + operation.path.replace('{id}', idOf[id]!), {
    method: operation.method,
    headers: { 'X-API-Key': server.apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(400);
  const told = JSON.stringify(await response.json());
  for (const name of pair.split(' ')) expect(told).toContain(name);
});

test('there are such fields', () => {
  expect(new Set(cases.map(({ id }) => id)).size).toBe(6);
});

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { operationsOf, resolve, type Schema } from '../../src/foundation/http/contract.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';
import { fromId } from '../../src/foundation/values/ids.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { until } from '../until.ts';
import { formOf } from '../voices/knowledge-bases/documents.ts';
import { exampleRequest } from './example-request.ts';
import { type Row, resources, type TableOperation, tableOperations } from './interface-table.ts';

// biome-ignore lint/suspicious/noExplicitAny: What is answered is judged by the table, and by nothing else.
type Json = any;
interface Answered {
  status: number;
  body: Json;
}

const written = loadContract();
const document = forValidator(written);
const operations = new Map(operationsOf(document).map((each) => [`${each.method} ${each.path}`, each]));

let server: TestServer;
/** A key that may do nothing of all this. */
let otherKey: string;
/** What each operation answered, in the order in which it was asked. */
const answers = new Map<string, Answered[]>();
/** The fields that were seen, as `resource.field`. */
const seen = new Set<string>();

beforeAll(async () => {
  server = await startTestServer();
  const other = { name: 'Other', permissions: ['audit_log:read'] };
  otherKey = (await request('POST', '/v1/api-keys', other)).body.data.key;
  const [listId] = await Promise.all([contactLists(), numbersAndPools(), workflowsAndRuns(), knowledgeBases()]);
  await campaignsAndCalls(listId);
});
afterAll(() => server.stop());

async function request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const type = body === undefined || body instanceof FormData ? {} : { 'Content-Type': 'application/json' };
  const response = await fetch(server.url + path, {
    method,
    headers: { 'X-API-Key': server.apiKey, ...type, ...headers },
    body: body instanceof FormData ? body : body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

/** Asks one of the table's operations, notes what it answers, and gives back what is in it. */
async function ask(key: string, ids: string[] = [], body?: unknown, headers?: Record<string, string>): Promise<Json> {
  const [method, template] = key.split(' ') as [string, string];
  const left = [...ids];
  const [path, query = ''] = template.split('?');
  const at = path!.replaceAll(/\{\w+\}/g, () => left.shift()!) + (query && `?${query}`);
  const answered = await request(method, at, body, headers);
  const operation = `${method} ${path}`;
  answers.set(operation, [...(answers.get(operation) ?? []), answered]);
  return answered.body.data ?? answered.body;
}

/** Asks another one for a resource of the table's, and judges that. */
async function read(path: string, resource: string): Promise<Json> {
  const { body } = await request('GET', path);
  const found = body.data ?? body;
  judge(resource, found);
  return found;
}

async function numbersAndPools() {
  const numbers = '/v1/telephony/phone-numbers';
  const bought = await ask(`POST ${numbers}/buy`, [], { phoneNumber: '+14155550199', provider: 'simulator' });
  await ask(`POST ${numbers}/buy`, [], { phoneNumber: '+14155550402', provider: 'simulator' });
  const sipConfig = { terminationUrl: 'dead.sim', username: 'ada', password: 'a password', ipAllowlist: ['192.0.2.1'] };
  const { imported } = await ask(`POST ${numbers}/import/manual`, [], {
    phoneNumbers: ['+14155550177'],
    sipConfig,
    inboundWebhookUrl: 'https://hooks.invalid/calls',
  });
  const ids = [imported[0].id];
  const connection = { type: 'stream', url: 'wss://agents.invalid/anna' };
  const { body } = await request('POST', '/v1/agents', { name: 'Anna', connection });
  const { id } = body.data.agent;
  const agents = { inboundAgentId: id, outboundAgentId: id, useSameForInbound: false };
  const countries = { allowedInboundCountries: ['US'], allowedOutboundCountries: ['US', 'CA'] };
  const names = { friendlyName: 'Reception', label: 'front' };
  await ask(`PATCH ${numbers}/{id}`, ids, { ...names, ...agents, ...countries, outboundTermination: 'dead.sim' });
  await ask(`GET ${numbers}/{id}`, ids);
  await ask(`GET ${numbers}?page=1&perPage=5&column=phone_number&order=asc&searchText=front`);
  await ask(`GET ${numbers}`);

  const pools = '/v1/number-pools';
  const pool = await ask(`POST ${pools}`, [], { name: 'One', description: 'Kept', phoneNumberIds: ids });
  const other = await ask(`POST ${pools}`, [], { name: 'Two', phoneNumberIds: [bought.id] });
  await ask(`PATCH ${pools}/{id}`, [pool.id], { name: 'Three' });
  await ask(`GET ${pools}`);
  await ask(`GET ${pools}/{id}`, [pool.id]);
  await ask(`GET ${pools}/{id}/members`, [pool.id]);
  await ask(`GET ${pools}/{id}/validate-trunks`, [pool.id]);
  const move = { phoneNumberId: bought.id, targetPoolId: pool.id };
  await ask(`POST ${pools}/{id}/members/move`, [other.id], move);
  await ask(`DELETE ${pools}/{id}`, [other.id]);
}

/** Makes a workflow, and publishes it. */
async function workflow(nodes: object[], publish = true): Promise<string> {
  const { body } = await request('POST', '/v1/workflows', { name: 'One', startNodeId: 'first', nodes });
  if (publish) await request('POST', `/v1/workflows/${body.data.id}/publish`);
  return body.data.id;
}

async function workflowsAndRuns() {
  const end = { id: 'end', type: 'end', title: 'End', status: 'completed', output: { said: '{{phone_number}}' } };
  const sleep = { id: 'first', type: 'wait', title: 'Sleep', seconds: 86_400, next: 'end' };
  const sleeps = await workflow([sleep, end]);
  const starts = { id: 'first', type: 'workflow', title: 'Start', workflowId: sleeps, wait: true, next: 'end' };
  const parent = await workflow([starts, end]);
  const lacks = { id: 'first', type: 'set', title: 'Lack', values: { a: '{{nothing}}' }, next: 'end' };
  const fails = await workflow([lacks, end]);
  const draft = await workflow([sleep, end], false);

  const start = 'POST /v1/workflows/{workflowId}/run';
  const keyed = { 'Idempotency-Key': 'one', 'Concurrency-Key': 'patient', 'Cooldown-Minutes': '10080' };
  const context = { phone_number: '+14155550142' };
  const run = await ask(start, [sleeps], { context }, keyed);
  await ask(start, [sleeps], {}, { ...keyed, 'Idempotency-Key': 'two' });
  await ask(start, [draft], {}, { 'Idempotency-Key': 'three' });
  const at = (id: string) => `/v1/workflow-runs/${id}`;
  await until(async () => (await read(at(run.id), 'Run')).wakeAt !== undefined);
  await ask('POST /v1/workflows/{workflowId}/runs/wake', [sleeps], { concurrencyKeys: ['patient', 'nobody'] });
  await until(async () => (await read(at(run.id), 'Run')).output !== undefined);
  const failing = await ask(start, [fails], {}, { 'Idempotency-Key': 'four' });
  await until(async () => (await read(at(failing.id), 'Run')).error !== undefined);
  const first = await ask(start, [parent], {}, { 'Idempotency-Key': 'five' });
  let child: Json;
  await until(async () => {
    const { body } = await request('GET', `/v1/workflows/${sleeps}/runs`);
    child = body.data.items.find((each: Json) => each.parentRunId === first.id);
    return child?.currentStepId !== undefined;
  });
  judge('Run', child);
  await ask('POST /v1/workflows/{workflowId}/runs/{runId}/cancel', [sleeps, child.id]);
}

async function contactLists(): Promise<string> {
  const list = await ask('POST /v1/calls/contact-lists', [], { name: 'Patients', fileName: 'patients.csv' });
  const body = 'phone,name\n+14155550142,Ada\nnobody,Ben\n';
  await fetch(list.uploadUrl, { method: 'PUT', headers: list.uploadHeaders, body });
  const ids = [list.id, list.uploadDetails.id];
  const uploads = '/v1/calls/contact-lists/{id}/uploads/{uploadID}';
  const stream: string = await ask(`GET ${uploads}/events`, ids);
  const events = stream.split('\n').filter((line) => line.startsWith('data: '));
  expect(events.length).toBeGreaterThan(1);
  for (const event of events) judge('UploadEvent', JSON.parse(event.slice(6)));
  await ask(`POST ${uploads}/confirm`, ids);
  const at = `/v1/calls/contact-lists/${list.id}`;
  await until(async () => (await read(at, 'ContactList')).status === 'ready');
  const other = await ask('POST /v1/calls/contact-lists', [], { name: 'Nobody' });
  await ask('DELETE /v1/calls/contact-lists/{id}', [other.id]);
  return list.id;
}

async function campaignsAndCalls(listId: string) {
  const from = { agentId: 'agent_reception', fromNumber: '+14155550199' };
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const create = async (more: object) => {
    const lists = [{ id: listId, role: 'contacts' }];
    const { body } = await request('POST', '/v1/calls/campaigns', { name: 'One', ...from, lists, ...more });
    return body.data.id as string;
  };
  const times = { scheduledAt: day(1), startDate: day(1), endDate: day(9), scheduleStart: 540, scheduleEnd: 1080 };
  const targets = { targetCallCount: 5, targetConversionRate: 0.1, retryPolicy: [5, 60], description: 'Kept' };
  const ids = [await create({ ...times, ...targets }), await create({}), await create({})] as const;
  for (const id of ids) await ask('POST /v1/calls/campaigns/{id}/start', [id]);
  const act = (id: string, word: string) => request('POST', `/v1/calls/campaigns/${id}/${word}`);
  for (const word of ['pause', 'resume', 'stop']) await act(ids[1], word);
  await act(ids[0], 'cancel');
  // A trunk that fails for long, which nothing else of this test does.
  await server.database.inEngine(({ db }) =>
    sql`update campaigns set failure_reason = 'trunk_failure' where id = ${fromId(ids[2])}`.execute(db),
  );
  for (const id of ids) await read(`/v1/calls/campaigns/${id}`, 'Campaign');

  const recipients = [{ phoneNumber: '+14155550118' }, { phoneNumber: 'nobody' }];
  const batch = await ask('POST /v1/calls/batch', [], { ...from, recipients, metadata: { depot: 'Oakland' } });
  let roomId: string | undefined;
  await until(async () => {
    const { body } = await request('GET', `/v1/calls?batchId=${batch.batchId}&status=dialing&status=in_progress`);
    roomId = body.items[0]?.roomId;
    return roomId !== undefined;
  });
  await ask('POST /v1/calls/{roomId}/end', [roomId!]);
}

async function knowledgeBases() {
  const bases = '/v1/knowledge-bases';
  const { id } = await ask(`POST ${bases}`, [], { name: 'Handbook', description: 'Kept' });
  const files = formOf({ 'hours.txt': 'We are open.', 'empty.pdf': '' });
  const { body } = await request('POST', `${bases}/${id}/documents`, files);
  await until(async () => (await read(`${bases}/${id}`, 'KnowledgeBase')).status === 'failed');
  await ask(`GET ${bases}/{kbId}`, [id]);
  await ask(`GET ${bases}`);
  await ask(`DELETE ${bases}/{kbId}/documents/{docId}`, [id, body.data.documents[0].id]);
  await ask(`DELETE ${bases}/{kbId}`, [id]);
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const checks: Record<string, (value: Json) => boolean> = {
  string: (value) => typeof value === 'string',
  'date-time': (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  free: isObject,
};

/** Judges what was answered by the rows of its resource, and notes which fields it had. */
function judge(resource: string, value: Json): void {
  expect(value, resource).toEqual(expect.any(Object));
  for (const { name, type, isRequired } of resources.get(resource)!) {
    const at = `${resource}.${name}`;
    if (value[name] === undefined) {
      expect(isRequired, `${at} is missing`).toBe(false);
      continue;
    }
    seen.add(at);
    const plain = type.replace('[]', '');
    if (type.endsWith('[]')) expect(Array.isArray(value[name]), at).toBe(true);
    for (const each of type.endsWith('[]') ? value[name] : [value[name]]) {
      if (resources.has(plain)) judge(plain, each);
      else expect((checks[plain] ?? checks['string']!)(each), `${at} is ${plain}: ${each}`).toBe(true);
    }
  }
}

/** A schema with what it refers to and adds to. */
function whole(node: Schema): Schema {
  const schema = resolve(written, node);
  const union = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].map(whole).filter(({ type }) => type !== 'null');
  const parts = [...(schema.allOf ?? []).map(whole), ...union.slice(0, 1)];
  const properties = Object.assign({}, ...parts.map((part) => part.properties), schema.properties);
  return Object.assign({}, ...parts, schema, { properties, required: schema.required ?? parts[0]?.required });
}

/** Judges the schema of a row: its type, and the values that it must have. */
function judgeRow({ name, type, range }: Row, node: Schema | undefined, at: string): void {
  expect(node, `${at}.${name} is not there`).toBeDefined();
  const schema = whole(node!);
  const plain = type.replace('[]', '');
  const part = type.endsWith('[]') ? whole(schema.items!) : schema;
  const wanted = type.includes('|') ? 'string' : plain;
  const typeOf = resources.has(plain) || plain === 'free' ? 'object' : wanted === 'date-time' ? 'string' : wanted;
  if (type.endsWith('[]')) expect(schema.type, `${at}.${name}`).toBe('array');
  if (plain in checks || resources.has(plain)) expect([part.type].flat(), `${at}.${name}`).toContain(typeOf);
  else expect(part.enum ?? [part.const], `${at}.${name}`).toEqual(expect.arrayContaining(plain.split('|')));
  const { format, additionalProperties } = part as { format?: string; additionalProperties?: unknown };
  if (plain === 'date-time') expect(format, `${at}.${name}`).toBe('date-time');
  if (plain === 'free') expect(additionalProperties, `${at}.${name} has free keys`).not.toBe(false);
  if (resources.has(plain)) judgeSchema(plain, part);
  const [least, most] = type.endsWith('[]') ? ['minItems', 'maxItems'] : ['minimum', 'maximum'];
  if (range) expect(schema, `${at}.${name}`).toMatchObject({ [least!]: range[0], [most!]: range[1] });
}

function judgeSchema(resource: string, node: Schema): void {
  const { properties = {}, required = [] } = whole(node);
  for (const row of resources.get(resource)!) {
    if (row.isAsked) continue;
    judgeRow(row, properties[row.name], resource);
    if (row.isRequired) expect(required, resource).toContain(row.name);
  }
}

/** The body and the success of an operation, as they stand in the contract. */
function schemasOf({ key }: TableOperation) {
  const [method, path] = key.split(' ') as [string, string];
  const item = written.paths[path]!;
  const operation = item[method.toLowerCase()] as Json;
  const schemaOf = (part: Json) => part && (resolve(written, part).content as Json)?.['application/json']?.schema;
  const [status] = Object.keys(operation.responses).filter((each) => each.startsWith('2'));
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((each) =>
    resolve(written, each),
  );
  return { parameters, body: schemaOf(operation.requestBody), status, success: schemaOf(operation.responses[status!]) };
}

test('the table has the 28 operations', () => expect(tableOperations).toHaveLength(28));

describe.each(tableOperations.map((operation) => ({ operation, key: operation.key })))('$key', ({ operation, key }) => {
  test('stands in the contract as the table says', () => {
    const { parameters, body, status, success } = schemasOf(operation);
    const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
    expect(inPath).toEqual([...key.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    for (const row of operation.parameters) {
      const parameter = parameters.find((each) => each.in === row.in && each.name === row.name)!;
      judgeRow(row, parameter?.schema, key);
      expect(parameter.required ?? false, row.name).toBe(row.isRequired);
    }
    for (const row of operation.body) {
      const { properties = {}, required = [] } = whole(body);
      judgeRow(row, properties[row.name], key);
      if (row.isRequired) expect(required).toContain(row.name);
    }
    if (operation.success) expect(status).toBe(String(operation.success));
    if (operation.isWrapped) expect(whole(success)).toMatchObject({ required: ['success', 'data'] });
    const { properties } = success ? whole(success) : {};
    if (operation.resource) judgeSchema(operation.resource, operation.isWrapped ? properties!['data']! : success);
  });

  test('answers as the table says', () => {
    const all = answers.get(key)!;
    const good = all.filter(({ status }) => status < 300);
    expect(good, JSON.stringify(all)).not.toEqual([]);
    for (const { status, body } of good) {
      if (operation.success) expect(status).toBe(operation.success);
      if (operation.isWrapped) expect(body).toEqual({ success: true, data: expect.any(Object) });
      else expect(body).not.toHaveProperty('success');
      if (operation.resource) judge(operation.resource, operation.isWrapped ? body.data : body);
    }
    const others = all.filter(({ status }) => status >= 300);
    expect(others.map(({ status }) => status).sort()).toEqual(operation.statuses);
    for (const { body } of others) expect(body).toMatchObject({ code: expect.any(String), error: expect.any(String) });
  });

  test('refuses as the table says', async () => {
    const [method, path, { body, headers }] = exampleRequest(document, operations.get(key)!);
    const isJson = operations.get(key)!.body?.types.includes('application/json');
    const hasPath = key.includes('{');
    const send = (at: string, more: object, sent: unknown = body) => request(method, at, sent, { ...headers, ...more });
    const refusals: [number, Promise<Answered>, string?][] = [
      [401, send(path, { 'X-API-Key': 'tl_nobody' })],
      [403, send(path, { 'X-API-Key': otherKey })],
    ];
    if (hasPath) refusals.push([404, send(path, {}), 'not_found']);
    if (hasPath) refusals.push([400, send(path.replace(/(_|%2B)[0-9a-f]{9,}/, '_no%20ID'), {})]);
    if (isJson) refusals.push([400, send(path, {}, { nothing: 1 })]);
    for (const { name, type, range } of [...operation.parameters, ...operation.body].filter((row) => row.range)) {
      const most = range![1];
      const many = (items: unknown[]) => ({ ...(body as object), [name]: Array(most + 1).fill(items[0]) });
      if (type.endsWith('[]')) refusals.push([400, send(path, {}, many((body as Json)[name]))]);
      else refusals.push([400, send(path, { [name]: String(most + 1), 'Concurrency-Key': 'a' })]);
    }
    for (const [status, answer, code] of refusals) {
      const { status: got, body: error } = await answer;
      expect(got, JSON.stringify(error)).toBe(status);
      expect(error).toMatchObject({ code: code ?? expect.any(String), error: expect.any(String) });
    }
  });
});

test('every field of every resource is answered', () => {
  const wanted = [...resources].flatMap(([resource, rows]) =>
    rows.filter(({ isAsked }) => !isAsked).map(({ name }) => `${resource}.${name}`),
  );
  expect(wanted.filter((field) => !seen.has(field))).toEqual([]);
});

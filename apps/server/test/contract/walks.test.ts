import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { operationsOf } from '../../src/foundation/http/contract.ts';
import { takesCursor } from '../../src/foundation/http/cursor.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';
import { newUuid, toId } from '../../src/foundation/values/ids.ts';
import { seedUploadedList } from '../seed/list.ts';
import { insertRows } from '../seed/rows.ts';
import { seedWorkflow } from '../seed/workflow.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { exampleRequest } from './example-request.ts';

const document = forValidator(loadContract());
const lists = operationsOf(document).filter(takesCursor);
/** Lists that grow without end. */
const uncounted = lists.filter(({ parameters }) => parameters.some(({ name }) => name === 'includeTotal'));

interface Page {
  items: Partial<
    Record<'id' | 'roomId' | 'batchId' | 'phoneNumber' | 'version' | 'index' | 'row' | 'createdAt', unknown>
  >[];
  page: number;
  totalCount?: number;
  nextCursor?: string;
}

let server: TestServer;
let workspaceId: string;
/** The path of a list of ours, for that of an example. */
let pathOf: (example: string) => string;

/** Two of one time and one of another: the ID decides as well. */
const times = ['12:00:00', '12:00:00', '12:00:01'].map((time) => new Date(`2026-11-20T${time}.000Z`));
const threeTimes = <T>(act: (line: number) => T): T[] => [0, 1, 2].map(act);
const definition = {
  name: 'Many',
  startNodeId: 'end',
  nodes: [{ id: 'end', type: 'end' as const, title: 'End', status: 'completed' as const }],
};

beforeAll(async () => {
  server = await startTestServer();
  const { database } = server;
  const { rows } = await database.inEngine(({ db }) => sql<{ id: string }>`select id from workspaces`.execute(db));
  workspaceId = rows[0]!.id;
  const one = { workspace_id: workspaceId };
  const [campaignId, poolId, webhookId, batchId] = [newUuid(), newUuid(), newUuid(), newUuid()];
  const stamped = threeTimes((line) => ({ ...one, id: newUuid(), created_at: times[line]!, updated_at: times[line]! }));
  const numbered = threeTimes((line) => ({ ...one, phone_number: 14155550100 + line }));
  const entries = threeTimes((line) => ({ phone_number: 14155550110 + line, name: `Ann ${line}` }));
  const { listId, uploadId } = await seedUploadedList(database, workspaceId, entries, {
    list: { type: 'dnd', total_entries: 9 },
  });
  const workflowId = await seedWorkflow(database, workspaceId, definition);
  await database.inEngine(async ({ db }) => {
    const uploads = stamped.slice(1).map((row) => ({ ...row, list_id: listId, processed_at: row.created_at }));
    await insertRows(db, 'contact_list_uploads', uploads);
    for (const { id } of uploads) {
      const rows = entries.map((entry, line) => ({ ...one, ...entry, upload_id: id, row_number: line + 2 }));
      await insertRows(db, 'contact_list_entries', rows);
    }
    await insertRows(db, 'contact_lists', stamped);
    const numbers = await insertRows(db, 'phone_numbers', stamped);
    await insertRows(db, 'number_pools', [...stamped, { ...one, id: poolId }]);
    const members = numbers.map(({ id }) => ({ ...one, phone_number_id: id, pool_id: poolId }));
    await insertRows(db, 'number_usage', members);
    const campaigns = [...stamped, { ...one, id: campaignId, done: 3 }];
    const paused = { status: 'paused' as const, phone_number_id: numbers[0]!.id };
    await insertRows(
      db,
      'campaigns',
      campaigns.map((row) => ({ ...row, ...paused })),
    );
    await insertRows(
      db,
      'campaign_contacts',
      numbered.map((row) => ({ ...row, campaign_id: campaignId, list_id: listId, state: 'done' as const })),
    );
    await insertRows(
      db,
      'calls',
      threeTimes((line) => ({
        ...one,
        status: 'completed',
        outcome: 'busy',
        to_number: 14155550100 + line,
        ended_at: times[0]!,
      })),
    );
    await insertRows(
      db,
      'workflow_versions',
      [2, 3].map((version) => ({ ...one, workflow_id: workflowId, version, definition })),
    );
    await insertRows(
      db,
      'workflow_runs',
      threeTimes(() => ({ ...one, workflow_id: workflowId, node_id: 'end', status: 'completed' })),
    );
    const webhooks = [...stamped, { ...one, id: webhookId }].map((row) => ({ ...row, event_types: ['call.ended'] }));
    await insertRows(db, 'webhooks', webhooks);
    await insertRows(
      db,
      'webhook_deliveries',
      threeTimes(() => ({ ...one, webhook_id: webhookId, status: 'failed' })),
    );
    for (const { id, created_at: time } of stamped)
      await sql`insert into exports (workspace_id, id, type, filter, status, created_at, expires_at)
        values (${workspaceId}, ${id}, 'calls', '{}', 'expired', ${time}, ${time})`.execute(db);
    for (const { id, created_at: time } of stamped)
      await sql`insert into sounds (workspace_id, id, name, duration_ms, size_bytes, created_at)
        values (${workspaceId}, ${id}, ${id}, 1000, 8000, ${time})`.execute(db);
    for (const { id, created_at: time } of stamped)
      await sql`insert into erasures (workspace_id, id, status, due_at, created_at)
        values (${workspaceId}, ${id}, 'completed', ${time}, ${time})`.execute(db);
    const cancelled = { status: 'cancelled' as const, phone_number_id: numbers[0]!.id };
    const batches = await insertRows(
      db,
      'campaigns',
      [batchId, newUuid(), newUuid()].map((id) => ({ ...one, id, kind: 'batch', ...cancelled })),
    );
    const listed = [...campaigns, ...batches].map(({ id }) => ({ ...one, campaign_id: id, list_id: listId }));
    await insertRows(db, 'campaign_lists', listed);
    const rejected = threeTimes((index) => ({
      index,
      phoneNumber: String(index),
      code: 'invalid_number',
      error: 'No.',
    }));
    for (const { id } of batches)
      await sql`insert into batches (workspace_id, id, rejected, rejected_count) values (${workspaceId}, ${id}, ${JSON.stringify(rejected)}, 3)`.execute(
        db,
      );
    for (const row of [2, 3, 4])
      await sql`insert into rejected_rows (workspace_id, upload_id, row_number, cells, errors, created_at)
        values (${workspaceId}, ${uploadId}, ${row}, '{12}', '[]', ${times[0]!})`.execute(db);
    await insertRows(
      db,
      'do_not_call',
      numbered.map((row, line) => ({ ...row, created_at: times[line]! })),
    );
  });
  const { client } = server;
  for (const name of ['A', 'B', 'C']) {
    const connection = { type: 'stream' as const, url: 'wss://agents.example.com/' };
    const made = [
      await client.POST('/v1/agents', { body: { name, connection } }),
      await client.POST('/v1/knowledge-bases', { body: { name } }),
      await client.POST('/v1/api-keys', { body: { name, permissions: ['calls:read'] } }),
      await client.POST('/v1/members', { body: { email: `${name}@example.com`, role: 'viewer' } }),
      await client.POST('/v1/sessions', { body: { apiKey: server.apiKey } }),
      await client.POST('/v1/telephony/trunks', { body: { terminationUrl: `${name}.sim` } }),
      await client.POST('/v1/workflows', { body: definition }),
    ];
    for (const { response } of made) expect(response.status).toBe(201);
  }
  const idOf = new Map(
    [
      toId('list', listId),
      toId('cmp', campaignId),
      toId('pool', poolId),
      toId('wf', workflowId),
      toId('whk', webhookId),
      toId('bat', batchId),
      toId('upl', uploadId),
    ].map((id) => [id.slice(0, id.indexOf('_')), id]),
  );
  pathOf = (example) =>
    example.replaceAll(/([a-z]+)_[0-9a-f]{32}/g, (whole, prefix: string) => idOf.get(prefix) ?? whole);
});
afterAll(() => server.stop());

async function ask(path: string) {
  const response = await fetch(server.url + path, { headers: { 'X-API-Key': server.apiKey } });
  return { status: response.status, body: (await response.json()) as { data?: Page } & Page };
}

async function read(path: string): Promise<Page> {
  const { status, body } = await ask(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data ?? body;
}

const nameOf = (item: Page['items'][number]) =>
  `${item.id ?? item.roomId ?? item.batchId ?? item.version ?? item.index ?? item.row ?? item.phoneNumber} ${item.createdAt}`;

/** What a walk by cursor finds, a page after the other; between the pages something may happen. */
async function walk(path: string, query: string, between: () => Promise<unknown> = async () => undefined) {
  const found: string[] = [];
  let page = await read(`${path}?${query}`);
  const { totalCount } = page;
  for (let number = 1; ; number += 1) {
    expect([page.page, page.totalCount]).toEqual([number, totalCount]);
    found.push(...page.items.map(nameOf));
    if (page.nextCursor === undefined) return found;
    await between();
    page = await read(`${path}?cursor=${page.nextCursor}`);
  }
}

describe.each(lists.map((operation) => [operation.id, operation] as const))('%s', (_, operation) => {
  const [, example] = exampleRequest(document, operation);

  test.each(['order=asc', 'order=desc'])('gives each entry once by cursor, %s', async (order) => {
    const path = pathOf(example);
    const whole = await read(`${path}?perPage=100&${order}`);
    expect(whole.items.length).toBeGreaterThan(2);
    expect(whole).not.toHaveProperty('nextCursor');
    const perPage = order === 'order=asc' ? 1 : 2;
    expect(await walk(path, `perPage=${perPage}&${order}`)).toEqual(whole.items.map(nameOf));
  });

  test('counts what is on all pages, of a list that grows without end only if asked', async () => {
    const path = pathOf(example);
    const { items } = await read(`${path}?perPage=100`);
    const first = await read(`${path}?perPage=1${uncounted.includes(operation) ? '&includeTotal=true' : ''}`);
    const next = await read(`${path}?cursor=${first.nextCursor}`);
    expect([first.totalCount, next.totalCount]).toEqual([items.length, items.length]);
    if (!uncounted.includes(operation)) return;
    const { nextCursor, ...page } = await read(`${path}?perPage=1`);
    for (const each of [page, await read(`${path}?cursor=${nextCursor}`)])
      expect(each).not.toHaveProperty('totalCount');
    const { status, body } = await ask(`${path}?cursor=${nextCursor}&includeTotal=true`);
    expect([status, body]).toMatchObject([400, { details: [{ path: '/query/includeTotal' }] }]);
  });

  test('answers a cursor whose place is none of its rows with 400', async () => {
    const path = pathOf(example);
    const { nextCursor } = await read(`${path}?perPage=1`);
    const [list, asked, place] = JSON.parse(Buffer.from(nextCursor!, 'base64url').toString()) as unknown[][];
    for (const forged of [place!.slice(0, -1), [...place!, 1], [2, 9, ...place!.slice(2).map(() => 'x')]]) {
      const cursor = Buffer.from(JSON.stringify([list, asked, forged])).toString('base64url');
      const { status, body } = await ask(`${path}?cursor=${cursor}`);
      expect([status, body]).toMatchObject([400, { details: [{ path: '/query/cursor' }] }]);
    }
  });
});

test('a walk goes by the column of the first page', async () => {
  const path = '/v1/telephony/phone-numbers';
  for (const order of ['asc', 'desc']) {
    const whole = await read(`${path}?column=phone_number&order=${order}`);
    expect(await walk(path, `column=phone_number&perPage=1&order=${order}`)).toEqual(whole.items.map(nameOf));
  }
});

test('what is added or taken away meanwhile moves nothing', async () => {
  const path = '/v1/calls/do-not-call';
  const { client } = server;
  const before = (await read(`${path}?perPage=100`)).items.map(nameOf);
  let next = 14155550150;
  const add = () => client.POST(path, { body: { phoneNumbers: [`+${next++}`] } });
  expect(await walk(path, 'perPage=5', add)).toEqual(before);
  const added = next;
  const take = () => client.DELETE(`${path}/{phoneNumber}`, { params: { path: { phoneNumber: `+${--next}` } } });
  // Newest first, each is taken away before its turn comes, or just after.
  const left = await walk(path, 'perPage=1&order=asc&searchText=1415555015', take);
  expect(left).toHaveLength(Math.ceil((added - 14155550150) / 2));
});

test('a filter and a search lead through the whole walk, and a page or another one beside it are refused', async () => {
  const path = '/v1/calls/do-not-call';
  const query = 'searchText=%2B1415555011&perPage=2';
  const { items, nextCursor } = await read(`${path}?${query}`);
  expect(items).toHaveLength(2);
  expect(await walk(path, query)).toHaveLength(9);
  expect((await read(`${path}?cursor=${nextCursor}&perPage=100`)).items).toHaveLength(7);
  for (const [name, beside] of [
    ['page', 'page=2'],
    ['searchText', 'searchText=1415555'],
    ['order', 'order=asc'],
  ]) {
    const { status, body } = await ask(`${path}?cursor=${nextCursor}&${beside}`);
    expect([status, body]).toMatchObject([400, { code: 'invalid_request', details: [{ path: `/query/${name}` }] }]);
  }
  expect((await ask(`/v1/calls?cursor=${nextCursor}`)).body).toMatchObject({ details: [{ path: '/query/cursor' }] });
});

test('calls, runs, deliveries, the audit log, numbers, entries, recipients and contacts are the lists without end', () => {
  expect(uncounted.map(({ id }) => id).sort()).toEqual([
    'listAuditLog',
    'listBatchRecipients',
    'listCalls',
    'listCampaignContacts',
    'listContactListEntries',
    'listDoNotCall',
    'listRuns',
    'listWebhookDeliveries',
    'listWorkflowRuns',
  ]);
});

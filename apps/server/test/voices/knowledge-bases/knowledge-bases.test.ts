import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { startTestServer, type TestServer, withoutRequestId } from '../../server.ts';
import { docxOf, pdfOf, wordParagraph } from './document-files.ts';
import { addFiles, bases, createBase, formOf, readBase, search, sendFiles, settled } from './documents.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const unknown = { kbId: 'kb_01932f3c8a7e7bd0a1b2c3d4e5f60718', docId: 'doc_01932f3c8a7e7bd0a1b2c3d4e5f60718' };

const eventsOf = (kbId: string) =>
  server.database.inEngine((tx) =>
    tx.db
      .selectFrom('events')
      .select(['type', 'revision', 'data'])
      .where('resource_id', '=', fromId(kbId))
      .orderBy('revision')
      .execute(),
  );

test('from a new knowledge base to an answer', async () => {
  const body = { name: 'Clinic', description: 'Hours and directions' };
  const created = await server.client.POST(bases, { body });
  expect(created.response.status).toBe(201);
  const base = created.data!.data;
  expect(base).toMatchObject({ ...body, status: 'empty', documentCount: 0, documents: [] });

  const documents = await addFiles(server, base.id, {
    'hours.pdf': pdfOf(['On Saturdays we are open\nfrom 9 to 13.']),
    'way.docx': docxOf(wordParagraph('Take the bus to the central station.')),
    'C:\\docs\\prices.csv': 'item;price\nConsultation;40 euros\nVaccination;25 euros\n',
  });
  expect(documents.map((document) => document.fileName)).toEqual(['hours.pdf', 'way.docx', 'prices.csv']);
  expect(documents.every((document) => document.status === 'pending' && !document.fileType)).toBe(true);

  const ready = await settled(server, base.id);
  expect(ready).toMatchObject({ status: 'ready', documentCount: 3 });
  expect(ready.documents.map(({ id, fileType, status }) => [id, fileType, status])).toEqual(
    documents.map(({ id }, at) => [id, ['pdf', 'docx', 'csv'][at], 'ready']),
  );
  expect(ready.documents[0]).toMatchObject({ extractedTextSizeBytes: 38, fileSizeBytes: documents[0]!.fileSizeBytes });
  expect(Date.parse(ready.updatedAt)).toBeGreaterThan(Date.parse(ready.createdAt));
  const path = { kbId: base.id, docId: documents[1]!.id };
  const one = await server.client.GET(`${bases}/{kbId}/documents/{docId}`, { params: { path } });
  expect(one.data!.data).toEqual(ready.documents[1]);

  expect(await search(server, base.id, 'Are you open on Saturday?')).toEqual([
    {
      documentId: documents[0]!.id,
      fileName: 'hours.pdf',
      position: 0,
      text: 'On Saturdays we are open\nfrom 9 to 13.',
      score: expect.any(Number),
    },
  ]);
  expect((await search(server, base.id, 'vaccination price'))[0]!.text).toContain('item: Vaccination; price: 25 euros');
});

test('a status tells of itself, with what it was then', async () => {
  const kbId = await createBase(server);
  const [good, bad] = await addFiles(server, kbId, { 'a.txt': 'Good day.', 'b.txt': '' });
  expect(await settled(server, kbId)).toMatchObject({ status: 'failed', documentCount: 2 });
  const remove = (docId: string) =>
    server.client.DELETE(`${bases}/{kbId}/documents/{docId}`, { params: { path: { kbId, docId } } });
  const removed = await remove(bad!.id);
  expect(removed.data).toEqual({ success: true, data: { id: bad!.id, deleted: true } });
  expect((await readBase(server, kbId)).status).toBe('ready');
  await remove(good!.id);
  expect(await readBase(server, kbId)).toMatchObject({ status: 'empty', documentCount: 0, documents: [] });
  const events = await eventsOf(kbId);
  expect(events.map((event) => event.type.replace('knowledge_base.', ''))).toEqual([
    'empty',
    'processing',
    'failed',
    'ready',
    'empty',
  ]);
  expect(events[2]!.data).toMatchObject({ id: kbId, name: 'Handbook', status: 'failed', documentCount: 2 });
  expect(events[2]!.data).not.toHaveProperty('documents');
});

test('name and description are changed, and taken away', async () => {
  const kbId = await createBase(server);
  const params = { path: { kbId } };
  const change = (body: { name?: string; description?: string | null }) =>
    server.client.PATCH(`${bases}/{kbId}`, { params, body });
  expect((await change({ description: 'Ours' })).data!.data).toMatchObject({ name: 'Handbook', description: 'Ours' });
  const { data } = await change({ name: 'Rules', description: null });
  expect(data!.data.name).toBe('Rules');
  expect(data!.data).not.toHaveProperty('description');
  expect(data!.data).toEqual(await readBase(server, kbId));
  expect((await eventsOf(kbId)).length).toBe(1);
});

test('lists by page, order and text, without documents', async () => {
  for (const name of ['Page one 50%', 'Page two 500']) await createBase(server, name);
  const list = async (query: object) => (await server.client.GET(bases, { params: { query } })).data!.data;
  const found = await list({ searchText: 'PAGE', order: 'asc' });
  expect(found.items.map((base) => [base.name, base.status, base.documentCount])).toEqual([
    ['Page one 50%', 'empty', 0],
    ['Page two 500', 'empty', 0],
  ]);
  expect(found).toMatchObject({ page: 1, perPage: 20, totalCount: 2, column: 'created_at', searchText: 'PAGE' });
  expect(found.items[0]).not.toHaveProperty('documents');
  expect((await list({ searchText: '50%' })).totalCount).toBe(1);
  expect((await list({ searchText: 'directions' })).items[0]!.name).toBe('Clinic');
  expect(await list({ perPage: 1, page: 2, searchText: 'page' })).toMatchObject({ items: [{ name: 'Page one 50%' }] });
  expect((await server.client.GET(bases, { params: { query: { perPage: 101 } } })).response.status).toBe(400);
});

test('a deleted knowledge base takes its documents with it', async () => {
  const kbId = await createBase(server);
  await addFiles(server, kbId, { 'a.txt': 'Good day.' });
  const params = { path: { kbId } };
  const deleted = await server.client.DELETE(`${bases}/{kbId}`, { params });
  expect(deleted.data).toEqual({ success: true, data: { id: kbId, deleted: true } });
  expect((await server.client.GET(`${bases}/{kbId}`, { params })).response.status).toBe(404);
  expect((await server.client.DELETE(`${bases}/{kbId}`, { params })).response.status).toBe(404);
});

test('what this workspace does not have is 404, the same for what another workspace has', async () => {
  const foreign = await keyWith(server, { permissions: ['*'], workspace: 'Another' });
  const kbId = await createBase(server);
  const [document] = await addFiles(server, kbId, { 'a.txt': 'Good day.' });
  const asked = async (path: string, method: string, key: string, json?: object) => {
    const isUpload = method === 'POST' && !json;
    const headers = { 'X-API-Key': key, ...(json && { 'Content-Type': 'application/json' }) };
    const body = json ? JSON.stringify(json) : isUpload ? formOf({ 'a.txt': 'x' }) : null;
    const response = await fetch(`${server.url}${bases}/${path}`, { method, headers, body });
    return `${response.status} ${withoutRequestId(await response.text())}`;
  };
  const operations = (id: string, docId: string): [string, string, object?][] => [
    [id, 'GET'],
    [id, 'PATCH', { name: 'x' }],
    [id, 'DELETE'],
    [`${id}/documents`, 'POST'],
    [`${id}/documents/${docId}`, 'GET'],
    [`${id}/documents/${docId}`, 'DELETE'],
    [`${id}/search`, 'POST', { query: 'day' }],
  ];
  const never = operations(unknown.kbId, unknown.docId);
  for (const [at, [path, method, json]] of operations(kbId, document!.id).entries()) {
    const answer = await asked(path, method, foreign, json);
    expect(answer, `${method} ${path}`).toMatch(/^404 .*not_found/);
    expect(await asked(never[at]![0], method, server.apiKey, json)).toBe(answer);
  }
  const other = await createBase(server);
  for (const method of ['GET', 'DELETE'])
    expect(await asked(`${other}/documents/${document!.id}`, method, server.apiKey)).toMatch(/^404/);
  expect((await readBase(server, kbId)).documentCount).toBe(1);
});

test('wrong input is 400', async () => {
  const post = (body: object) => server.client.POST(bases, { body: body as never });
  for (const body of [{}, { name: '' }, { name: 'x'.repeat(256) }, { name: 'x', description: 1 }, { name: 'x', y: 1 }])
    expect((await post(body)).response.status, JSON.stringify(body)).toBe(400);
  const params = { path: { kbId: await createBase(server) } };
  for (const body of [{ name: null }, { status: 'ready' }])
    expect((await server.client.PATCH(`${bases}/{kbId}`, { params, body: body as never })).response.status).toBe(400);
  for (const body of [{}, { query: '' }, { query: 'x', limit: 0 }, { query: 'x', limit: 51 }, { query: 'a\0b' }])
    expect((await server.client.POST(`${bases}/{kbId}/search`, { params, body: body as never })).response.status).toBe(
      400,
    );
  const read = await server.client.GET(`${bases}/{kbId}`, { params: { path: { kbId: 'list_1' } } });
  expect(read.response.status).toBe(400);
  const wrong = await sendFiles(server, params.path.kbId, '{}', { 'Content-Type': 'application/json' });
  expect(wrong.status).toBe(415);
});

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { addFiles, bases, createBase, type Document, formOf, readBase, sendFiles } from './documents.ts';

let server: TestServer;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-uploads-'));
  server = await startTestServer({ config: { documentMaxBytes: 1_000_000, dataDir } });
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const filesOnDisk = async () => {
  const objects = path.join(dataDir, 'objects');
  const [kept, incoming] = await Promise.all([
    readdir(path.join(objects, 'documents')).catch(() => []),
    readdir(path.join(objects, '.incoming')),
  ]);
  return [...kept, ...incoming];
};
const erasures = () =>
  server.database.inEngine((tx) => tx.db.selectFrom('knowledge_base_erasures').selectAll().execute());

/** Nothing is stored but the files of these documents, and nothing waits to be erased. */
const onlyKept = (documents: Document[]) =>
  until(async () => {
    const expected = documents.map((document) => document.id).sort();
    return (await erasures()).length === 0 && (await filesOnDisk()).sort().join() === expected.join();
  });

const textOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.txt`, `File ${at}`]));

const answerTo = async (response: Response) => {
  const body = (await response.json()) as { code: string; error: string };
  return [response.status, body.code, body.error];
};

test('all files are taken or none', async () => {
  const kbId = await createBase(server);
  const tooLarge = [413, 'payload_too_large', 'A file is larger than 1 MB.'];
  const large = { 'a.txt': 'small', 'b.txt': 'x'.repeat(1_000_001), 'c.txt': 'small' };
  expect(await answerTo(await sendFiles(server, kbId, formOf(large)))).toEqual(tooLarge);
  expect((await readBase(server, kbId)).documents).toEqual([]);
  await onlyKept([]);
  const [kept] = await addFiles(server, kbId, { 'b.txt': `${'word '.repeat(199_999)}word!` });
  expect(kept!.fileSizeBytes).toBe(1_000_000);
  await onlyKept([kept!]);
});

test('a file that is sent again is read no further than one may be long', async () => {
  const kbId = await createBase(server);
  const named = { 'Idempotency-Key': 'again' };
  expect((await sendFiles(server, kbId, formOf({ 'a.txt': 'small' }), named)).status).toBe(201);
  const large = await sendFiles(server, kbId, formOf({ 'a.txt': 'x'.repeat(1_000_001) }), named);
  expect(await answerTo(large)).toEqual([413, 'payload_too_large', 'A file is larger than 1 MB.']);
});

test('a body that holds no list of files is refused', async () => {
  const kbId = await createBase(server);
  const sent = async (body: string | FormData, headers?: Record<string, string>) =>
    answerTo(await sendFiles(server, kbId, body, headers));
  const formWith = (name: string, value: string | Blob) => {
    const form = formOf({ 'a.txt': 'x' });
    form.append(name, value as string);
    return form;
  };
  const multipart = { 'Content-Type': 'multipart/form-data; boundary=x' };
  const part = (disposition: string) => `--x\r\nContent-Disposition: ${disposition}\r\n\r\nText\r\n`;
  const refused: [string | FormData, Record<string, string> | undefined, RegExp][] = [
    [new FormData(), undefined, /at least one file/],
    [formOf(textOf(11)), undefined, /at most 10 files/],
    [formWith('other', new Blob(['x'])), undefined, /named files/],
    [formWith('note', 'text'), undefined, /note must be a file/],
    [formWith('files', 'text'), undefined, /files must be a file/],
    ['--x--\r\n', multipart, /at least one file/],
    [part('form-data; name="files"; filename="a.txt"'), multipart, /not valid multipart/],
    ['nonsense', multipart, /not valid multipart/],
    ['nonsense', { 'Content-Type': 'multipart/form-data' }, /not valid multipart/],
  ];
  for (const [body, headers, message] of refused)
    expect(await sent(body, headers), String(message)).toEqual([
      400,
      'invalid_request',
      expect.stringMatching(message),
    ]);
  const zipped = { ...multipart, 'Content-Encoding': 'gzip' };
  expect((await sent('--x--\r\n', zipped))[0]).toBe(415);
  expect((await readBase(server, kbId)).documents).toEqual([]);
});

// A form sends a quotation mark as %22, and so may a name have it.
test('names are kept as people know them', async () => {
  const kbId = await createBase(server);
  const names = ['Zoë "plan" 日本.txt', '../../x.txt', '..', 'a%22b.txt'];
  const added = await addFiles(server, kbId, Object.fromEntries(names.map((name) => [name, 'x'])));
  expect(added.map((document) => document.fileName)).toEqual([
    'Zoë %22plan%22 日本.txt',
    'x.txt',
    'document',
    'a%22b.txt',
  ]);
});

test('a knowledge base holds 100 documents, also where two fill it at once', async () => {
  const kbId = await createBase(server);
  for (let tens = 0; tens < 9; tens += 1) await addFiles(server, kbId, textOf(10));
  const both = await Promise.all([6, 7].map((count) => sendFiles(server, kbId, formOf(textOf(count)))));
  expect(both.map((response) => response.status).sort()).toEqual([201, 409]);
  const refused = both.find((response) => response.status === 409)!;
  expect(refused.headers.get('x-should-retry')).toBe('false');
  expect((await answerTo(refused)).slice(1)).toEqual([
    'limit_reached',
    'A knowledge base holds at most 100 documents.',
  ]);
  const { documentCount } = await readBase(server, kbId);
  await addFiles(server, kbId, textOf(100 - documentCount));
  expect((await sendFiles(server, kbId, formOf(textOf(1)))).status).toBe(409);
  const full = await readBase(server, kbId);
  expect(full.documentCount).toBe(100);
  await server.client.DELETE(`${bases}/{kbId}`, { params: { path: { kbId } } });
  await until(async () => (await filesOnDisk()).every((name) => !full.documents.some(({ id }) => id === name)));
});

test('an upload that breaks off leaves nothing', async () => {
  const kbId = await createBase(server);
  const before = await filesOnDisk();
  const url = new URL(`${server.url}${bases}/${kbId}/documents`);
  const headers = { 'X-API-Key': server.apiKey, 'Content-Type': 'multipart/form-data; boundary=x' };
  const sending = request(url, { method: 'POST', headers });
  sending.on('error', () => undefined);
  const file = (name: string) => `--x\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n`;
  sending.write(`${file('a.txt')}whole\r\n${file('b.txt')}${'half '.repeat(30_000)}`);
  await until(async () => (await filesOnDisk()).length === before.length + 2);
  sending.destroy();
  await until(async () => (await filesOnDisk()).length === before.length && (await erasures()).length === 0);
  expect((await readBase(server, kbId)).documents).toEqual([]);
});

test('files of a server that died while it stored them are erased, and can not be claimed any more', async () => {
  const kbId = await createBase(server);
  const url = new URL(`${server.url}${bases}/${kbId}/documents`);
  const headers = { 'X-API-Key': server.apiKey, 'Content-Type': 'multipart/form-data; boundary=x' };
  const sending = request(url, { method: 'POST', headers });
  const answered = new Promise<number>((resolve) => sending.once('response', ({ statusCode }) => resolve(statusCode!)));
  const file = '--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n';
  const before = await filesOnDisk();
  sending.write(`${file}whole\r\n${file}half`);
  await until(async () => (await erasures()).length === 2);
  // Two hours later.
  await server.database.inEngine((tx) =>
    tx.db
      .updateTable('knowledge_base_erasures')
      .set({ due_at: new Date(0) })
      .execute(),
  );
  await until(async () => (await erasures()).length === 0);
  sending.end('\r\n--x--\r\n');
  expect(await answered).toBe(503);
  expect((await readBase(server, kbId)).documents).toEqual([]);
  expect((await filesOnDisk()).length).toBeLessThanOrEqual(before.length + 1);
});

test('every document that is added or deleted is in the audit log', async () => {
  const kbId = await createBase(server);
  const [one, two] = await addFiles(server, kbId, textOf(2));
  const path = { kbId, docId: one!.id };
  await server.client.DELETE(`${bases}/{kbId}/documents/{docId}`, { params: { path } });
  const entries = await server.database.inEngine((tx) =>
    tx.db.selectFrom('audit_log').select(['action', 'resource_id', 'resource_type']).orderBy('id').execute(),
  );
  const ids = [one!.id, two!.id, kbId];
  expect(entries.filter((entry) => ids.includes(entry.resource_id)).map((entry) => Object.values(entry))).toEqual([
    ['knowledge_base.created', kbId, 'knowledge_base'],
    ['document.added', one!.id, 'document'],
    ['document.added', two!.id, 'document'],
    ['document.deleted', one!.id, 'document'],
  ]);
  expect(fromId(one!.id)).not.toBe(fromId(two!.id));
});

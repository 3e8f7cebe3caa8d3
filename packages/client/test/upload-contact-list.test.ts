import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ContactFileError } from '../src/index.ts';
import { hangUp, json, standIn, stream } from './stand-in.ts';

const csv = 'name,phone\nAna,+14155550100\n';
const metadata = { totalRows: 1, validRows: 1, invalidRows: 0, duplicateRows: 0 };
const list = { id: 'list_1', name: 'Spring', status: 'draft' };

const event = (eventId: string, upload: object) =>
  `id: ${eventId}\ndata: ${JSON.stringify({ eventId, eventType: 'upload.x', data: { id: 'upl_1', ...upload } })}\n\n`;

/** The create's answer: it names the server that is asked. */
const created: Parameters<typeof standIn>[0] = (response, { headers }) =>
  json(201, {
    ...list,
    uploadDetails: { id: 'upl_1', status: 'pending' },
    uploadUrl: `http://${headers.host}/objects/upl_1.csv?signature=s`,
    uploadHeaders: { 'Content-Type': 'text/csv' },
  })(response, { headers, method: '', url: '', body: '' });

const validated = stream(event('1', { status: 'validating' }) + event('2', { status: 'validated', metadata }));
const put = json(200, { key: 'upl_1.csv' });

test('creates the list, sends the file and waits until its rows are checked', async () => {
  const { client, received } = await standIn(created, put, validated);
  const seen: string[] = [];
  const { list: made, upload } = await client.contactLists.upload({
    name: 'Spring',
    file: new TextEncoder().encode(csv),
    fileName: 'spring.csv',
    defaultCountry: 'US',
    onProgress: ({ status }) => seen.push(status),
  });
  expect(upload).toEqual({ id: 'upl_1', status: 'validated', metadata });
  expect(made).toEqual({ ...list, uploadDetails: upload });
  expect(seen).toEqual(['pending', 'validating', 'validated']);
  expect(received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'POST /v1/calls/contact-lists',
    'PUT /objects/upl_1.csv?signature=s',
    'GET /v1/calls/contact-lists/list_1/uploads/upl_1/events',
  ]);
  expect(JSON.parse(received[0]!.body)).toEqual({ name: 'Spring', fileName: 'spring.csv', defaultCountry: 'US' });
  expect(received[1]).toMatchObject({ body: csv, headers: { 'content-type': 'text/csv' } });
  expect(received[1]!.headers).not.toHaveProperty('x-api-key');
});

test('takes text, a File, a file of Node and a stream', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-client-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, 'a.csv'), csv);
  const contents = [
    { file: csv, fileName: 'contacts.csv' },
    { file: new File([csv], 'mine.csv'), fileName: 'mine.csv' },
    { file: await openAsBlob(path.join(folder, 'a.csv')), fileName: 'contacts.csv' },
    { file: new Blob([csv]).stream(), fileName: 'contacts.csv' },
  ];
  for (const { file, fileName } of contents) {
    const { client, received } = await standIn(created, put, validated);
    await client.contactLists.upload({ name: 'Spring', file });
    expect(JSON.parse(received[0]!.body)).toMatchObject({ fileName });
    expect(received[1]!.body).toBe(csv);
  }
});

test("a file that can't be imported is an error that says why", async () => {
  const failure = { code: 'no_phone_column', message: 'No column holds phone numbers.' };
  const { client } = await standIn(created, put, stream(event('1', { status: 'failed', failure })));
  const error = await client.contactLists.upload({ name: 'Spring', file: csv }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ContactFileError);
  expect(error).toMatchObject({ message: failure.message, contactListId: 'list_1', upload: { failure } });
});

test("a file that the store refuses is the store's error", async () => {
  const tooLarge = json(413, { code: 'payload_too_large', error: 'The file is larger than 10 bytes.' });
  const { client } = await standIn(created, tooLarge);
  const failed = client.contactLists.upload({ name: 'Spring', file: csv });
  await expect(failed).rejects.toMatchObject({ status: 413, code: 'payload_too_large' });
});

test('a file whose answer was lost is sent again, and counts as sent where it had arrived', async () => {
  const taken = json(409, { code: 'invalid_state', error: 'A file was uploaded to this URL already.' });
  const { client, received } = await standIn(created, hangUp, taken, validated);
  await client.contactLists.upload({ name: 'Spring', file: csv });
  expect(received.map(({ method }) => method)).toEqual(['POST', 'PUT', 'PUT', 'GET']);
});

test('a URL that was used before is an error', async () => {
  const taken = json(409, { code: 'invalid_state', error: 'A file was uploaded to this URL already.' });
  const { client } = await standIn(created, taken);
  await expect(client.contactLists.upload({ name: 'Spring', file: csv })).rejects.toMatchObject({ status: 409 });
});

test('confirm returns the list once it is imported', async () => {
  const ready = { ...list, status: 'ready', uploadDetails: { id: 'upl_1', status: 'processed', metadata } };
  const { client, received } = await standIn(json(200, ready));
  expect(await client.contactLists.confirm('list_1', { uploadId: 'upl_1' })).toEqual(ready);
  expect(received.map(({ method }) => method)).toEqual(['POST']);
});

test('confirm finds the latest upload, and waits for a long import', async () => {
  const withStatus = (status: string) => ({ ...list, uploadDetails: { id: 'upl_1', status } });
  const { client, received } = await standIn(
    json(200, withStatus('validated')),
    json(200, withStatus('processing')),
    stream(event('3', { status: 'processed', metadata })),
    json(200, { ...withStatus('processed'), status: 'ready' }),
  );
  const confirmed = await client.contactLists.confirm('list_1');
  expect(confirmed).toMatchObject({ status: 'ready', uploadDetails: { status: 'processed', metadata } });
  expect(received.map(({ url }) => url.replace('/v1/calls/contact-lists/list_1', ''))).toEqual([
    '',
    '/uploads/upl_1/confirm',
    '/uploads/upl_1/events',
    '',
  ]);
});

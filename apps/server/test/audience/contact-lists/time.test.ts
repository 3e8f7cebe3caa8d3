import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { deleteOldEvents } from '../../../src/platform/journal/retention.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { confirm, createWithFile, importFile, lastEventId, openEvents, statusesOf } from './contact-files.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const minute = 60_000;
const day = 24 * 60 * minute;
const file = 'phone\n+14155550101\n';

test('an upload whose file never comes expires with its URL', async () => {
  const body = { name: 'A', fileName: 'a.csv' };
  const { data } = await server.client.POST('/v1/calls/contact-lists', { body });
  const ids = { id: data!.id, uploadID: data!.uploadDetails.id };
  const stream = openEvents(server, ids).then(statusesOf);
  server.clock.advance(16 * minute);
  expect((await stream).map((frame) => frame.event)).toEqual(['upload.pending', 'upload.expired']);
  expect((await fetch(data!.uploadUrl, { method: 'PUT', headers: data!.uploadHeaders, body: file })).status).toBe(403);
  const { response, error } = await confirm(server, ids);
  expect([response.status, error!.code]).toEqual([409, 'invalid_state']);
});

test('a validated upload expires after seven days without a confirm, and its rows go', async () => {
  const confirmed = await importFile(server, file);
  const ids = await createWithFile(server, file);
  const last = await lastEventId(server, ids);
  server.clock.advance(7 * day + minute);
  const expired = await statusesOf(await openEvents(server, ids, last));
  expect(expired.map((frame) => [frame.event, frame.data.data.status])).toEqual([['upload.expired', 'expired']]);
  const rowsOf = (uploadID: string) =>
    server.database.inEngine((tx) =>
      tx.db
        .selectFrom('contact_list_entries')
        .select('phone_number')
        .where('upload_id', '=', fromId(uploadID))
        .execute(),
    );
  await until(async () => (await rowsOf(ids.uploadID)).length === 0);
  expect(await rowsOf(confirmed.uploadID)).toHaveLength(1);
});

test('events older than seven days are deleted, and a stream then starts with the current state', async () => {
  const ids = await importFile(server, file);
  const all = await statusesOf(await openEvents(server, ids, '2'));
  expect(all).toHaveLength(4);
  const last = all.at(-1)!.id;
  server.clock.advance(7 * day + minute);
  const fresh = await importFile(server, file);
  await deleteOldEvents(server.database, server.clock.now());
  expect((await statusesOf(await openEvents(server, ids, '2'))).map((frame) => frame.id)).toEqual([last]);
  expect(await statusesOf(await openEvents(server, fresh, '2'))).toHaveLength(4);
  expect((await openEvents(server, ids, last)).status).toBe(204);
});

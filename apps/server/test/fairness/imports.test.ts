import pg from 'pg';
import { expect, test } from 'vitest';
import { fromId } from '../../src/foundation/values/ids.ts';
import { createWithFile, validated } from '../audience/contact-lists/contact-files.ts';
import { keyWith } from '../platform/api-keys/keys.ts';
import { seedRow } from '../seed/rows.ts';
import { startTestServer } from '../server.ts';
import { until } from '../until.ts';

const file = 'phone\n+14155550101\n';

test('files of one workspace that take long hold up no small one of another', async () => {
  const server = await startTestServer();
  const key = await keyWith(server, { permissions: ['*'], workspace: 'Quiet' });
  const quiet = { ...server, apiKey: key, client: server.clientOf(key) };
  const { data } = await server.client.GET('/v1/workspace');
  const holder = new pg.Client({ connectionString: server.connectionString });
  await holder.connect();
  await holder.query(`begin; select set_config('trunkline.engine', 'on', true)`);
  // What an earlier try has left is erased first: while that is locked, nothing goes on.
  const uploads: { uploadUrl: string; uploadHeaders: Record<string, string>; id: string; listId: string }[] = [];
  for (let at = 0; at < 4; at += 1) {
    const body = { name: `List ${at}`, fileName: 'people.csv' };
    const { data: made } = await server.client.POST('/v1/calls/contact-lists', { body });
    const { uploadUrl, uploadHeaders, uploadDetails } = made!;
    uploads.push({ uploadUrl, uploadHeaders, id: uploadDetails.id, listId: made!.id });
    const left = {
      workspace_id: fromId(data!.data.id),
      upload_id: fromId(uploadDetails.id),
      phone_number: 14155550100,
    };
    await seedRow(server.database, 'contact_list_entries', left);
  }
  await holder.query('select from contact_list_entries_all for update');
  for (const { uploadUrl, uploadHeaders } of uploads)
    await fetch(uploadUrl, { method: 'PUT', headers: uploadHeaders, body: file });
  const stateOf = async ({ id, listId }: (typeof uploads)[number]) => {
    const params = { path: { id: listId, uploadID: id } };
    const { data: upload } = await server.client.GET('/v1/calls/contact-lists/{id}/uploads/{uploadID}', { params });
    return upload!.status;
  };
  const states = async () => (await Promise.all(uploads.map(stateOf))).toSorted();
  await until(async () => expect((await states()).filter((each) => each === 'validating')).toHaveLength(2));
  expect(await validated(quiet, await createWithFile(quiet, file))).toMatchObject({ status: 'validated' });
  expect(await states()).toEqual(['uploaded', 'uploaded', 'validating', 'validating']);
  await holder.end();
  await server.stop();
});

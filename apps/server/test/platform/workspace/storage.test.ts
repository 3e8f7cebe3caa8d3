import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openRecordingFiles } from '../../../src/dialing/calls/recordings/recording-files.ts';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { seedRow } from '../../seed/rows.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { createBase, formOf, sendFiles } from '../../voices/knowledge-bases/documents.ts';

const lists = '/v1/calls/contact-lists';

let server: TestServer;
afterEach(() => server.stop());

const limited = async (storageMaxBytes: number) => {
  server = await startTestServer({ config: { storageMaxBytes } });
};

async function newList() {
  const { data, error } = await server.client.POST(lists, { body: { name: 'People' } });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}

/** A file of so many bytes, with one number. */
const fileOf = (bytes: number) => `phone,x\n+14155550101,${'x'.repeat(bytes - 22)}\n`;

const send = (list: Awaited<ReturnType<typeof newList>>, body: string | ReadableStream) =>
  fetch(list.uploadUrl, { method: 'PUT', headers: list.uploadHeaders, body, duplex: 'half' } as RequestInit);

const stored = async () => (await readdir(join(server.dataDir, 'objects/uploads')).catch(() => [])).length;

async function uploadOf(list: Awaited<ReturnType<typeof newList>>) {
  const path = { id: list.id, uploadID: list.uploadDetails.id };
  return (await server.client.GET(`${lists}/{id}/uploads/{uploadID}`, { params: { path } })).data!;
}

test('a workspace keeps as many bytes of files as it may, and more once some are deleted', async () => {
  await limited(1000);
  const [first, second, third] = [await newList(), await newList(), await newList()];
  expect((await send(first, fileOf(600))).status).toBe(200);
  const refused = await send(second, fileOf(500));
  expect(refused.status).toBe(413);
  expect(await refused.json()).toMatchObject({
    code: 'payload_too_large',
    error:
      'This workspace keeps 600 bytes of contact files, documents, sounds and recordings, of 1000 that it may keep. Delete some.',
  });
  // It says nothing of its length, so it is counted while it comes.
  const body = new Blob([fileOf(500)]).stream();
  expect((await send(second, body)).status).toBe(413);
  expect(await stored()).toBe(1);
  expect((await send(second, fileOf(400))).status).toBe(200);

  const kbId = await createBase(server);
  const params = { path: { id: third.id } };
  const answers = [
    await server.client.POST(lists, { body: { name: 'One more' } }),
    await server.client.POST(`${lists}/{id}/uploads`, { params, body: { fileName: 'a.csv' } }),
  ];
  for (const { response, error } of answers) expect([response.status, error!.code]).toEqual([409, 'limit_reached']);
  const documents = await sendFiles(server, kbId, formOf({ 'a.txt': 'a' }));
  expect([documents.status, ((await documents.json()) as { code: string }).code]).toEqual([409, 'limit_reached']);
  expect((await send(third, fileOf(30))).status).toBe(413);

  await server.client.DELETE(`${lists}/{id}`, { params: { path: { id: first.id } } });
  expect((await sendFiles(server, kbId, formOf({ 'a.txt': 'a'.repeat(300), 'b.txt': 'b'.repeat(400) }))).status).toBe(
    409,
  );
  expect((await sendFiles(server, kbId, formOf({ 'a.txt': 'a'.repeat(300), 'b.txt': 'b'.repeat(300) }))).status).toBe(
    201,
  );
  expect((await server.client.POST(lists, { body: { name: 'Full again' } })).response.status).toBe(409);
});

/** A file whose second half comes once that is let through. */
function inHalves(text: string) {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const halves = [text.slice(0, text.length / 2), text.slice(text.length / 2)];
  const body = new ReadableStream({
    async pull(controller) {
      const half = halves.shift();
      if (half === undefined) return controller.close();
      if (halves.length === 0) await gate;
      controller.enqueue(new TextEncoder().encode(half));
    },
  });
  return { body, open };
}

const incoming = async () => (await readdir(join(server.dataDir, 'objects/.incoming'))).length;

test('of two files that come at once, and have room one by one, one is kept', async () => {
  await limited(1000);
  const both = [await newList(), await newList()];
  const files = both.map(() => inHalves(fileOf(600)));
  const sent = both.map((list, at) => send(list, files[at]!.body));
  // Both are being written: so each has been told of the room that there was.
  await until(async () => (await incoming()) === 2);
  for (const { open } of files) open();
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 413]);
  expect(await stored()).toBe(1);
  const loser = both[statuses.indexOf(413)]!;
  expect(await uploadOf(loser)).toMatchObject({ status: 'pending' });
  expect((await send(loser, fileOf(400))).status).toBe(200);
});

test('files that are coming take no more of the disk together than their workspace may keep', async () => {
  await limited(1000);
  const made = [await newList(), await newList()];
  const kbId = await createBase(server);
  const first = inHalves(fileOf(800));
  const sent = send(made[0]!, first.body);
  await until(async () => (await incoming()) === 1);
  // The first has brought 400 bytes, and has not come whole.
  expect((await send(made[1]!, new Blob([fileOf(700)]).stream())).status).toBe(413);
  const documents = await sendFiles(server, kbId, formOf({ 'a.txt': 'a'.repeat(700) }));
  expect([documents.status, ((await documents.json()) as { code: string }).code]).toEqual([409, 'limit_reached']);
  expect(await incoming()).toBe(1);
  first.open();
  expect((await sent).status).toBe(200);
  expect((await send(made[1]!, fileOf(200))).status).toBe(200);
});

test('the file of an upload that was refused for want of room is not read again, if it is still there', async () => {
  await limited(1000);
  const { id, storageKey, uploadDetails } = await newList();
  const change = { status: 'failed', failure_code: 'storage_full', failure_message: 'Full.' } as const;
  await server.database.inEngine(({ db }) =>
    db.updateTable('contact_list_uploads').set(change).where('id', '=', fromId(uploadDetails.id)).execute(),
  );
  await mkdir(join(server.dataDir, 'objects/uploads'), { recursive: true });
  await writeFile(join(server.dataDir, 'objects', storageKey!), fileOf(100));
  const request = { params: { path: { id, uploadID: uploadDetails.id } }, body: { sheet: null } };
  const { error } = await server.client.PATCH(`${lists}/{id}/uploads/{uploadID}`, request);
  expect(error).toMatchObject({ code: 'invalid_state', error: expect.stringContaining('The file is gone.') });
});

test('a URL whose upload is gone takes no file', async () => {
  await limited(1000);
  const list = await newList();
  await server.client.DELETE(`${lists}/{id}`, { params: { path: { id: list.id } } });
  expect((await send(list, fileOf(100))).status).toBe(403);
});

test('a recording for which there is no room fails, and counts no more', async () => {
  await limited(70_000);
  const { database } = server;
  const { id: workspaceId } = await database.inEngine(({ db }) =>
    db.selectFrom('workspaces').select('id').executeTakeFirstOrThrow(),
  );
  const files = await openRecordingFiles(join(server.dataDir, 'recordings'));
  const recorded = async (bytes: number) => {
    const ended = { status: 'completed', outcome: 'answered', ended_at: new Date() } as const;
    const call = { workspace_id: workspaceId, to_number: 14155550101, ...ended };
    const { id: roomId } = await seedRow(database, 'calls', call);
    await writeFile(files.pathOf({ workspaceId, roomId }), Buffer.alloc(bytes));
    await files.finish({ workspaceId, roomId }, 'whole');
    const path = { roomId: toId('room', roomId) };
    return async () => (await server.client.GET('/v1/calls/{roomId}', { params: { path } })).data!.recording?.status;
  };
  const first = await recorded(60_044);
  await until(async () => (await first()) === 'stored');
  const [large, small] = [await recorded(20_044), await recorded(9000)];
  await until(async () => (await files.list()).length === 0);
  expect([await large(), await small()]).toEqual(['failed', 'stored']);
});

const DAY_MS = 24 * 3600 * 1000;

test('the file of a failed upload goes a day later, and that of an unconfirmed one when it expires', async () => {
  server = await startTestServer();
  const [failed, unconfirmed, imported] = [await newList(), await newList(), await newList()];
  await send(failed, 'no header of ours\nhere\n');
  for (const list of [unconfirmed, imported]) await send(list, fileOf(50));
  await until(async () => (await uploadOf(failed)).status === 'failed');
  for (const list of [unconfirmed, imported]) await until(async () => (await uploadOf(list)).status === 'validated');
  const path = { id: imported.id, uploadID: imported.uploadDetails.id };
  await server.client.POST(`${lists}/{id}/uploads/{uploadID}/confirm`, { params: { path } });
  const isThere = (list: typeof failed) => existsSync(join(server.dataDir, 'objects', list.storageKey!));
  server.clock.advance(DAY_MS / 2);
  expect(isThere(failed)).toBe(true);
  server.clock.advance(DAY_MS / 2 + 1000);
  await until(() => !isThere(failed));
  expect(isThere(unconfirmed)).toBe(true);
  server.clock.advance(6 * DAY_MS);
  await until(async () => !isThere(unconfirmed) && (await uploadOf(unconfirmed)).status === 'expired');
  expect(isThere(imported)).toBe(true);
});

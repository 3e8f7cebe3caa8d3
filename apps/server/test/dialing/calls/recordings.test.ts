import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepRecordings } from '../../../src/dialing/calls/recordings/keep-recordings.ts';
import { recordingKey } from '../../../src/dialing/calls/recordings/recording.ts';
import { openRecordingFiles, type RecordingFiles } from '../../../src/dialing/calls/recordings/recording-files.ts';
import type { ObjectStore } from '../../../src/foundation/objects/object-store.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { createEndpoint, type Receiver, sendsToLoopback, startReceiver } from '../../platform/webhooks/receiver.ts';
import { seedRow, seedRows } from '../../seed/rows.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

let server: TestServer;
let files: RecordingFiles;
let receiver: Receiver;
let folder: string;
let workspaceId: string;
beforeAll(async () => {
  server = await startTestServer({
    config: { ...sendsToLoopback, simulatorSpeed: 10_000, recordingRetentionDays: 30 },
  });
  folder = join(server.dataDir, 'recordings');
  files = await openRecordingFiles(folder);
  const rows = await server.database.inEngine((tx) => tx.db.selectFrom('workspaces').select('id').execute());
  workspaceId = rows[0]!.id;
  receiver = await startReceiver();
  await createEndpoint(server, receiver.url, ['call.recorded']);
  await server.client.POST('/v1/telephony/phone-numbers/buy', {
    body: { phoneNumber: '+14155550200', provider: 'simulator' },
  });
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

/** A call that was answered and is over. */
async function call(phoneNumber: string) {
  const { data } = await server.client.POST('/v1/calls/batch', {
    body: { agentId: 'anna', fromNumber: '+14155550200', recipients: [{ phoneNumber }] },
  });
  const query = { batchId: data!.batchId, status: 'completed' as const };
  const ended = async () => (await server.client.GET('/v1/calls', { params: { query } })).data!.items[0];
  await until(async () => (await ended()) !== undefined);
  const { roomId } = (await ended())!;
  const read = async () => {
    const answer = await server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId } } });
    return answer.data!.recording;
  };
  const remove = () => server.client.DELETE('/v1/calls/{roomId}/recording', { params: { path: { roomId } } });
  return { roomId, key: { workspaceId, roomId: fromId(roomId) }, read, remove };
}

/** What a writer has written after some seconds; the header says nothing yet. */
const sound = (seconds: number) => Buffer.concat([Buffer.alloc(44), Buffer.alloc(seconds * 32_000, 1)]);

test('a recording is told while it is made, stored, told of, downloaded, and deleted', async () => {
  const { roomId, key, read, remove } = await call('+14155550100');
  expect(await read()).toBeUndefined();
  expect((await remove()).response.status).toBe(404);
  await writeFile(files.pathOf(key), sound(2));
  await until(async () => (await read())?.status === 'recording');
  const early = await remove();
  expect([early.response.status, early.error!.code]).toEqual([409, 'invalid_state']);

  await files.finish(key, 'whole');
  await until(async () => (await read())?.status === 'stored');
  const recording = (await read())!;
  expect(recording).toMatchObject({ status: 'stored', sizeBytes: 64_044, durationSeconds: 2.001 });
  const file = await fetch(recording.url!);
  expect(file.headers.get('content-type')).toBe('audio/wav');
  expect(Buffer.from(await file.arrayBuffer())).toEqual(sound(2));
  expect(await readdir(folder)).toEqual([]);
  await until(() => receiver.ofType('call.recorded').length === 1);
  expect(receiver.ofType('call.recorded')[0]!.data).toMatchObject({
    roomId,
    recording: { status: 'stored', sizeBytes: 64_044 },
  });

  expect((await remove()).data).toEqual({ id: roomId, deleted: true });
  expect(await read()).toEqual({ status: 'deleted' });
  expect((await remove()).response.status).toBe(404);
  await until(async () => (await fetch(recording.url!)).status === 404);
});

test('what a dead server has left is stored as long as it is', async () => {
  const { key, read } = await call('+14155550102');
  const path = files.pathOf(key);
  await writeFile(path, sound(3));
  const longAgo = new Date(Date.now() - 600_000);
  await utimes(path, longAgo, longAgo);
  await until(async () => (await read())?.status === 'stored');
  const bytes = Buffer.from(await (await fetch((await read())!.url!)).arrayBuffer());
  expect([bytes.readUInt32LE(4), bytes.readUInt32LE(40), bytes.length]).toEqual([96_036, 96_000, 96_044]);
});

test('a recording that failed is told, one that was lost with its server too, and both harm nothing', async () => {
  const failed = await call('+14155550111');
  await writeFile(files.pathOf(failed.key), sound(1));
  await files.finish(failed.key, 'failed');
  await until(async () => (await failed.read())?.status === 'failed');
  expect((await failed.remove()).response.status).toBe(404);
  expect(await readdir(folder)).toEqual([]);
});

test('a store that is away loses nothing, however long, and what was deleted meanwhile is not stored', async () => {
  const [kept, deleted] = [await call('+12125550101'), await call('+12135550101')];
  const elsewhere = await openRecordingFiles(join(server.dataDir, 'recordings-elsewhere'));
  const stored: string[] = [];
  let isDown = true;
  const objects = {
    put: async (key: string) => {
      if (isDown) throw new Error('The store is down.');
      stored.push(key);
      return true;
    },
  } as Partial<ObjectStore> as ObjectStore;
  const { database, clock } = server;
  const deps = { database, objects, files: elsewhere, clock, log: pino({ level: 'silent' }), retentionDays: 30 };
  const keep = () => keepRecordings({ ...deps, recordEvents: async () => {} });
  for (const { key } of [kept, deleted]) {
    await writeFile(elsewhere.pathOf(key), sound(1));
    await elsewhere.finish(key, 'whole');
  }
  await keep();
  expect(await kept.read()).toEqual({ status: 'recording' });
  expect(await elsewhere.list()).toHaveLength(2);
  // Given up after an hour: the server that has the file may be gone for good.
  server.clock.advance(2 * 3600 * 1000);
  await until(async () => (await kept.read())?.status === 'failed');
  await database.inEngine((tx) =>
    tx.db.updateTable('call_recordings').set({ status: 'deleted' }).where('room_id', '=', deleted.key.roomId).execute(),
  );
  isDown = false;
  await keep();
  expect(stored).toEqual([recordingKey(kept.key.roomId)]);
  expect(await kept.read()).toMatchObject({ status: 'stored', sizeBytes: 32_044 });
  expect(await elsewhere.list()).toEqual([]);
});

test('however many recordings one workspace has, those of others are stored in turn, also what comes meanwhile', async () => {
  const own = await openRecordingFiles(join(server.dataDir, 'recordings-in-turn'));
  const { database, clock } = server;
  const owners = await seedRows(database, 'workspaces', [{}, {}]);
  const [noisy, quiet] = owners.map(({ id }) => id);
  const whose = new Map<string, string>();
  const record = async (workspace_id: string) => {
    const ended = { status: 'completed', outcome: 'answered', ended_at: clock.now() } as const;
    const { id: roomId } = await seedRow(database, 'calls', { workspace_id, to_number: 14155550101, ...ended });
    const key = { workspaceId: workspace_id, roomId };
    whose.set(recordingKey(roomId), workspace_id);
    await writeFile(own.pathOf(key), sound(1));
    await own.finish(key, 'whole');
  };
  for (let at = 0; at < 30; at += 1) await record(noisy!);
  await record(quiet!);
  const stored: string[] = [];
  const objects = {
    put: async (key: string) => {
      stored.push(whose.get(key)!);
      if (stored.length === 3) await record(quiet!);
      return true;
    },
  } as Partial<ObjectStore> as ObjectStore;
  const deps = { database, objects, files: own, clock, log: pino({ level: 'silent' }), retentionDays: 30 };
  await keepRecordings({ ...deps, recordEvents: async () => {} });
  expect(stored).toHaveLength(32);
  const [first, second] = stored.flatMap((owner, at) => (owner === quiet ? [at] : []));
  expect(first).toBeLessThan(2);
  expect(second).toBeLessThan(13);
});

test('a file that is gone once its turn comes ends nothing but its own try', async () => {
  const own = await openRecordingFiles(join(server.dataDir, 'recordings-gone'));
  const { key, read } = await call('+12165550101');
  await writeFile(own.pathOf(key), sound(1));
  await own.finish(key, 'whole');
  let told = 0;
  const objects = {
    put: async (_key: string, content: AsyncIterable<Uint8Array>) => {
      for (const file of await own.list()) await own.remove(file);
      await sleep(50);
      for await (const _ of content) told += 1;
      return true;
    },
  } as Partial<ObjectStore> as ObjectStore;
  const { database, clock } = server;
  const deps = { database, objects, files: own, clock, log: pino({ level: 'silent' }), retentionDays: 30 };
  await keepRecordings({ ...deps, recordEvents: async () => {} });
  expect(told).toBe(0);
  expect(await read()).toEqual({ status: 'recording' });
});

test('recordings are erased once they were kept for as long as the settings say', async () => {
  const { key, read } = await call('+14155550112');
  await writeFile(files.pathOf(key), sound(1));
  await files.finish(key, 'whole');
  await until(async () => (await read())?.status === 'stored');
  const path = join(server.dataDir, 'objects', recordingKey(key.roomId));
  expect(existsSync(path)).toBe(true);
  server.clock.advance(31 * 24 * 3600 * 1000);
  await until(() => !existsSync(path));
  expect(await read()).toEqual({ status: 'deleted' });
});

test('one that the store will not erase holds up none behind it', async () => {
  const both = [await call('+12145550101'), await call('+12155550101')] as const;
  for (const { key, read } of both) {
    await writeFile(files.pathOf(key), sound(1));
    await files.finish(key, 'whole');
    await until(async () => (await read())?.status === 'stored');
  }
  const [stuck, other] = both.map(({ key }) => join(server.dataDir, 'objects', recordingKey(key.roomId)));
  // A folder is no file to erase.
  await rm(stuck!);
  await mkdir(stuck!);
  for (const { remove } of both) await remove();
  await until(() => !existsSync(other!));
  expect(existsSync(stuck!)).toBe(true);
});

test('the peaks of a recording are those of its tones, and go with it', async () => {
  const { roomId, key, read, remove } = await call('+14155550100');
  const peaks = (points: number) =>
    server.client.GET('/v1/calls/{roomId}/recording/peaks', { params: { path: { roomId }, query: { points } } });
  expect((await peaks(100)).response.status).toBe(404);
  const file = sound(2).fill(0);
  // The callee is half as loud as can be for the first second, and the agent a quarter for the last.
  for (let frame = 0; frame < 8000; frame += 1) {
    const phase = Math.sin((2 * Math.PI * 440 * frame) / 8000);
    file.writeInt16LE(Math.round(16_384 * phase), 44 + 4 * frame);
    file.writeInt16LE(Math.round(8192 * phase), 44 + 4 * (8000 + frame) + 2);
  }
  await writeFile(files.pathOf(key), file);
  await until(async () => (await read())?.status === 'recording');
  const early = await peaks(100);
  expect([early.response.status, early.error!.code]).toEqual([409, 'invalid_state']);
  await files.finish(key, 'whole');
  await until(async () => (await read())?.status === 'stored');

  const { data } = await peaks(100);
  expect(data).toMatchObject({ roomId, durationSeconds: 2.001 });
  const tone = (loud: number) => Array.from({ length: 50 }, () => expect.closeTo(loud, 2));
  const silence = new Array(50).fill(0);
  expect(data!.callee).toEqual([...tone(0.5), ...silence]);
  expect(data!.agent).toEqual([...silence, ...tone(0.25)]);
  // They are kept: the file is not read again.
  await rm(join(server.dataDir, 'objects', recordingKey(key.roomId)));
  expect((await peaks(100)).data).toEqual(data);
  const fine = (await peaks(4000)).data!;
  expect([fine.callee.length, Math.max(...fine.callee.slice(2001))]).toEqual([4000, 0]);
  expect((await peaks(333)).data!.agent).toHaveLength(333);

  await remove();
  expect((await peaks(100)).response.status).toBe(404);
  const kept = () =>
    server.database.inEngine(({ db }) =>
      db.selectFrom('call_recordings').select('peaks').where('room_id', '=', key.roomId).executeTakeFirstOrThrow(),
    );
  await until(async () => (await kept()).peaks === null);
});

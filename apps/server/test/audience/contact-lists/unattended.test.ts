import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { acceptFile } from '../../../src/audience/contact-lists/accept-file.ts';
import type { ContactListDeps } from '../../../src/audience/contact-lists/deps.ts';
import { expireUploads } from '../../../src/audience/contact-lists/expire-uploads.ts';
import { giveUpImport, importUpload } from '../../../src/audience/contact-lists/import-upload.ts';
import { DEFAULT_READ_LIMITS } from '../../../src/audience/contact-lists/reading/read-contacts.ts';
import { moveUpload } from '../../../src/audience/contact-lists/upload-store.ts';
import { giveUpValidation, validateUpload } from '../../../src/audience/contact-lists/validate-upload.ts';
import { openNotifications } from '../../../src/foundation/database/notifications.ts';
import { createSecrets } from '../../../src/foundation/database/secrets.ts';
import { openDiskObjectStore } from '../../../src/foundation/objects/disk.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import type { WitnessedWord } from '../../../src/platform/installation/witness.ts';
import { type Jobs, NotYet, openJobs } from '../../../src/platform/jobs/jobs.ts';
import { createComingFiles } from '../../../src/platform/workspace/coming-files.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import {
  addFile,
  confirm,
  createWithFile,
  framesOf,
  type Ids,
  importFile,
  openEvents,
  validated,
} from './contact-files.ts';

const log = pino({ level: 'silent' });
let server: TestServer;
let dataDir: string;
let jobs: Jobs;
let notifications: ReturnType<typeof openNotifications>;
/** The same store, database and queue as the server's, without its word of what was stored. */
let deps: ContactListDeps;

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-unattended-'));
  server = await startTestServer({ config: { dataDir } });
  const { connection } = server.database;
  jobs = await openJobs({ connection, connections: 1, log, registry: new Registry() });
  notifications = openNotifications({ connection, log });
  const { clock, database } = server;
  const directory = path.join(dataDir, 'objects');
  const disk = await openDiskObjectStore({ directory, secrets: ['another'], baseUrl: () => server.url, clock, log });
  const objects = { ...disk, tellsOfUploads: false };
  const coming = createComingFiles(new Registry());
  const guard = { tell: async () => {}, doubts: () => 0, digest: () => '' };
  const secrets = createSecrets(randomBytes(32));
  deps = { database, notifications, jobs, objects, clock, log, secrets, coming, limits: DEFAULT_READ_LIMITS, guard };
});
afterAll(async () => {
  await jobs.close();
  await notifications.close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function* content() {
  yield Buffer.from('phone\n+14155550101\n');
}

async function createList() {
  const body = { name: 'A', fileName: 'a.csv' };
  const list = (await server.client.POST('/v1/calls/contact-lists', { body })).data!;
  return { ids: { id: list.id, uploadID: list.uploadDetails.id }, key: list.uploadDetails.storageKey };
}

const workspace = () =>
  server.database.inEngine((tx) => tx.db.selectFrom('workspaces').select('id').executeTakeFirstOrThrow());
const jobOf = async (ids: Ids) => ({ workspaceId: (await workspace()).id, uploadId: fromId(ids.uploadID) });
const read = async (path: Ids) =>
  (await server.client.GET('/v1/calls/contact-lists/{id}/uploads/{uploadID}', { params: { path } })).data!;

test('a store that does not tell of its files is asked', async () => {
  const { ids, key } = await createList();
  await expireUploads(deps, new AbortController().signal);
  expect((await read(ids)).status).toBe('pending');
  await deps.objects.put(key, content(), 1000);
  await expireUploads(deps, new AbortController().signal);
  expect((await validated(server, ids)).status).toBe('validated');
});

test('an upload that is checked again as it would expire does not', async () => {
  const ids = await createWithFile(server, 'phone\n+14155550101\n');
  await validated(server, ids);
  server.clock.advance(7 * 24 * 3600_000);
  /** Reads what is due, and has the upload checked again before it is expired. */
  const meanwhile = {
    ...deps.database,
    inEngine: async (work: Parameters<typeof deps.database.inEngine>[0]) => {
      const due = await deps.database.inEngine(work);
      await deps.database.inEngine((tx) =>
        tx.db
          .updateTable('contact_list_uploads')
          .set({ validated_at: server.clock.now() })
          .where('id', '=', fromId(ids.uploadID))
          .execute(),
      );
      return due;
    },
  } as typeof deps.database;
  await expireUploads({ ...deps, database: meanwhile }, new AbortController().signal);
  expect((await read(ids)).status).toBe('validated');
});

test('a file that a crash kept from being told of is found when its URL ends', async () => {
  const { ids, key } = await createList();
  await deps.objects.put(key, content(), 1000);
  server.clock.advance(16 * 60_000);
  expect((await framesOf(await openEvents(server, ids))).at(-1)!.event).toBe('upload.validated');
});

test('a validation that fails every time ends as failed', async () => {
  const { ids } = await createList();
  const job = await jobOf(ids);
  await server.database.inWorkspace(job.workspaceId, (tx) => moveUpload(tx, job.uploadId, 'uploaded', {}, new Date()));
  await giveUpValidation(deps, job);
  expect(await read(ids)).toMatchObject({ status: 'failed', failure: { code: 'unreadable_file' } });
  await giveUpValidation(deps, await jobOf(await importFile(server, 'phone\n+14155550101\n')));
});

test('a file that takes more memory than its thread has is told so, and not read again', async () => {
  const { ids } = await createList();
  const job = await jobOf(ids);
  await deps.database.inWorkspace(job.workspaceId, (tx) => moveUpload(tx, job.uploadId, 'uploaded', {}, new Date()));
  async function* huge() {
    yield Buffer.alloc(300_000_000, 'x');
  }
  const own = { ...deps, objects: { ...deps.objects, get: async () => huge() } };
  await validateUpload(own, job, new AbortController().signal);
  expect(await read(ids)).toMatchObject({ status: 'failed', failure: { code: 'file_too_large' } });
});

const hasPriorities = process.platform === 'linux' && inject('testServer').embedded;

test.runIf(hasPriorities)(
  'a file is read, and its rows written, after what others do: calls go on meanwhile',
  async () => {
    const { ids } = await createList();
    const job = await jobOf(ids);
    const { database, objects } = deps;
    await database.inWorkspace(job.workspaceId, (tx) => moveUpload(tx, job.uploadId, 'uploaded', {}, new Date()));
    const usual = getPriority();
    const seen: { threads: number[]; backends: number[] }[] = [];
    async function* held() {
      const threads = (await readdir('/proc/self/task')).map((tid) => getPriority(Number(tid)) - usual);
      const { rows } = await database.pool.query<{ pid: number; usual: number }>(`
        select pid, pg_backend_pid() as usual from pg_stat_activity
        where datname = current_database() and application_name = 'trunkline import'`);
      const backends = rows.map((each) => getPriority(each.pid) - getPriority(each.usual));
      seen.push({ threads: threads.filter((by) => by !== 0), backends });
      yield* content();
    }
    const connection = { ...database.connection, isEmbedded: true as const };
    const own = { ...deps, database: { ...database, connection }, objects: { ...objects, get: async () => held() } };
    await validateUpload(own, job, new AbortController().signal);
    expect(seen).toEqual([{ threads: [10], backends: [10, 10] }]);
    expect(getPriority()).toBe(usual);
    expect((await read(ids)).status).toBe('validated');
  },
);

test('a validation whose list is deleted meanwhile is no failure that anyone is told of', async () => {
  const { ids } = await createList();
  const job = await jobOf(ids);
  await server.database.inWorkspace(job.workspaceId, (tx) => moveUpload(tx, job.uploadId, 'uploaded', {}, new Date()));
  const get = async () => {
    await server.client.DELETE('/v1/calls/contact-lists/{id}', { params: { path: { id: ids.id } } });
    return content();
  };
  const { signal } = new AbortController();
  const validating = validateUpload({ ...deps, objects: { ...deps.objects, get } }, job, signal);
  await expect(validating).rejects.toBeInstanceOf(NotYet);
  await validateUpload(deps, job, signal);
});

test('an import that fails every time ends as failed, and leaves the list as it was', async () => {
  const list = await importFile(server, 'phone\n+14155550101\n');
  const more = await addFile(server, list.id, 'phone\n+14155550102\n');
  await validated(server, more);
  const job = await jobOf(more);
  await server.database.inWorkspace(job.workspaceId, (tx) =>
    moveUpload(tx, job.uploadId, 'processing', {}, new Date()),
  );
  await giveUpImport(deps, job);
  expect((await read(more)).status).toBe('failed');
  expect((await confirm(server, more)).error!.code).toBe('invalid_state');
  expect((await read(list)).status).toBe('processed');
  const rows = () =>
    server.database.inEngine((tx) =>
      tx.db.selectFrom('contact_list_entries').select('upload_id').where('upload_id', '=', job.uploadId).execute(),
    );
  await until(async () => (await rows()).length === 0);
});

test('an import whose numbers the witness could not be told of tells it again when its job is done again', async () => {
  const list = await importFile(server, 'phone\n+14155550101\n', { type: 'dnd' });
  const more = await addFile(server, list.id, 'phone\n+14155550102\n');
  await validated(server, more);
  const job = await jobOf(more);
  await server.database.inWorkspace(job.workspaceId, (tx) =>
    moveUpload(tx, job.uploadId, 'processing', {}, new Date()),
  );
  const told: WitnessedWord[] = [];
  let isAway = true;
  const tell = async (words: readonly WitnessedWord[]) => {
    if (isAway) throw new Error('It can not be written.');
    told.push(...words);
  };
  const asked = { ...deps, guard: { tell, doubts: () => 0, digest: (number: string) => number } };
  await expect(importUpload(asked, job)).rejects.toThrow('can not be written');
  expect((await read(more)).status).toBe('processed');
  isAway = false;
  await importUpload(asked, job);
  expect(told).toMatchObject([{ type: 'opt_out', to: ['14155550102'] }]);
});

test('a file that comes after its upload has expired is removed', async () => {
  const { ids, key } = await createList();
  server.clock.advance(16 * 60_000);
  await framesOf(await openEvents(server, ids, '1'));
  await deps.objects.put(key, content(), 1000);
  await acceptFile(deps, key);
  expect(await deps.objects.stat(key)).toBeUndefined();
  expect((await read(ids)).status).toBe('expired');
});

test('a file that was accepted is not taken twice', async () => {
  const ids = await createWithFile(server, 'phone\n+14155550101\n');
  const { storageKey } = await validated(server, ids);
  await acceptFile(deps, storageKey);
  expect(await deps.objects.stat(storageKey)).toBeDefined();
  expect((await read(ids)).status).toBe('validated');
});

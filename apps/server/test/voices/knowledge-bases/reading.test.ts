import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecrets } from '../../../src/foundation/database/secrets.ts';
import { openDiskObjectStore } from '../../../src/foundation/objects/disk.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { openJobs } from '../../../src/platform/jobs/jobs.ts';
import { createComingFiles } from '../../../src/platform/workspace/coming-files.ts';
import type { KnowledgeBaseDeps } from '../../../src/voices/knowledge-bases/deps.ts';
import { readQueue } from '../../../src/voices/knowledge-bases/queues.ts';
import { giveUpReading, readDocument } from '../../../src/voices/knowledge-bases/read-document.ts';
import { readerRights } from '../../../src/voices/knowledge-bases/reader-rights.ts';
import { readingLimits } from '../../../src/voices/knowledge-bases/reading/limits.ts';
import { runReader } from '../../../src/voices/knowledge-bases/run-reader.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Content, docxOf, encryptedPdf, pdfOf } from './document-files.ts';
import { addFiles, bases, createBase, readBase, search, settled } from './documents.ts';

let server: TestServer;
let dataDir: string;
/** The server's database and files, to do by hand what its background work does. */
let deps: KnowledgeBaseDeps;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-reading-'));
  server = await startTestServer({ config: { dataDir } });
  const { clock, database } = server;
  const directory = path.join(dataDir, 'objects');
  const log = pino({ level: 'silent' });
  const objects = await openDiskObjectStore({ directory, secrets: ['x'], baseUrl: () => server.url, clock, log });
  const jobs = await openJobs({ connection: database.connection, connections: 1, log, registry: new Registry() });
  deps = {
    database,
    objects,
    clock,
    jobs,
    log,
    secrets: createSecrets(randomBytes(32)),
    coming: createComingFiles(new Registry()),
    basesOfCall: async () => [],
    maxBytes: 1,
  };
});
afterAll(async () => {
  await deps.jobs.close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function* content(file: Content) {
  yield Buffer.from(file as string);
}
const ignore = async () => undefined;
const never = new AbortController().signal;
const run = (file: Content, limits = readingLimits) => runReader(content(file), limits, ignore, never);

/** 30 MB of XML, whose objects take many times that, in a file of some 30 kB. */
const bomb = docxOf('<w:p/>'.repeat(5_000_000));

test.runIf(process.platform === 'linux')('a file is read after what others do: calls go on meanwhile', async () => {
  const parentOf = async (pid: string) =>
    Number((await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ')[1]);
  const readers: number[] = [];
  async function* held() {
    for (const pid of (await readdir('/proc')).filter(Number))
      if ((await parentOf(pid).catch(() => 0)) === process.pid) readers.push(getPriority(Number(pid)) - getPriority());
    yield Buffer.from('A text.');
  }
  expect(await runReader(held(), readingLimits, ignore, never)).toMatchObject({ fileType: 'txt' });
  expect(readers).toEqual([10]);
});

test('files that can not be read fail, each with what to do about it, and the server lives on', async () => {
  const kbId = await createBase(server);
  const files: [name: string, content: Content, fileType: string | undefined, message: RegExp][] = [
    ['empty.pdf', '', undefined, /empty/],
    ['encrypted.pdf', encryptedPdf(), 'pdf', /password/],
    ['long.pdf', pdfOf(Array(10_000).fill('x')), 'pdf', /10,000 pages/],
    ['bomb.docx', bomb, undefined, /too much memory/],
    ['photo.txt', Uint8Array.from(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')), undefined, /image/],
    ['page.pdf', '<!doctype html><p>A page in disguise.</p>', 'html', /^$/],
  ];
  await addFiles(server, kbId, Object.fromEntries(files.map(([name, file]) => [name, file])));
  const { status, documents } = await settled(server, kbId);
  expect(status).toBe('failed');
  expect(documents.map((document) => document.fileName)).toEqual(files.map(([name]) => name));
  for (const [at, [name, , fileType, message]] of files.entries()) {
    expect(documents[at]!.fileType, name).toBe(fileType);
    expect(documents[at]!.errorMessage ?? '', name).toMatch(message);
    expect(documents[at]!.status).toBe(documents[at]!.errorMessage ? 'failed' : 'ready');
  }
  expect((await search(server, kbId, 'disguise')).map((passage) => passage.fileName)).toEqual(['page.pdf']);
});

/** What becomes of what a program tries that has a reader's rights. */
async function tried(attempts: string): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-rights-'));
  await chmod(folder, 0o755);
  const program = path.join(folder, 'program.mjs');
  await writeFile(program, attempts);
  const { flags, account } = await readerRights(program);
  const options = { env: {}, cwd: '/', ...account };
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program], options);
  await rm(folder, { recursive: true });
  return stdout.trim().split('\n');
}

test('a reader reads no file but its own, writes none, starts nothing, and connects to nobody', async () => {
  const secret = path.join(dataDir, 'encryption.key');
  await writeFile(secret, 'x', { mode: 0o644 });
  const told = await tried(`
    import { spawnSync } from 'node:child_process';
    import { readFileSync, writeFileSync } from 'node:fs';
    import { createServer } from 'node:net';
    const attempt = (act) => {
      try {
        act();
        console.log('done');
      } catch (error) {
        console.log(error.code);
      }
    };
    attempt(() => readFileSync(import.meta.filename));
    attempt(() => readFileSync(${JSON.stringify(secret)}));
    attempt(() => readFileSync('/etc/passwd'));
    attempt(() => writeFileSync(import.meta.filename, 'x'));
    attempt(() => spawnSync('id'));
    attempt(() => createServer().listen(0));
    console.log(Object.keys(process.env).length, process.getuid());`);
  expect(told.slice(0, -1)).toEqual(['done', ...Array(5).fill('ERR_ACCESS_DENIED')]);
  expect(told.at(-1)).toMatch(process.getuid!() === 0 ? /^0 [1-9]\d*$/ : /^0 \d+$/);
});

test.runIf(process.platform === 'linux')('readers run with these rights', async () => {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  async function* slow() {
    yield Buffer.from('Good day.');
    await finished;
  }
  const reading = runReader(slow(), readingLimits, ignore, never);
  const readers = async () => {
    const found: { command: string; status: string }[] = [];
    for (const pid of await readdir('/proc')) {
      const of = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
      const [command, status] = [await of('cmdline'), await of('status')];
      if (command.includes('reading/reader.') && status.includes(`PPid:\t${process.pid}\n`))
        found.push({ command, status });
    }
    return found;
  };
  await until(async () => (await readers()).length > 0);
  const { flags, account } = await readerRights(
    fileURLToPath(import.meta.resolve('../../../src/voices/knowledge-bases/reading/reader.ts')),
  );
  for (const { command, status } of await readers()) {
    for (const flag of flags) expect(command.split('\0')).toContain(flag);
    expect(status).toMatch(new RegExp(`^Uid:\\t${account?.uid ?? process.getuid!()}\\t`, 'm'));
  }
  finish();
  expect(await reading).toMatchObject({ fileType: 'txt' });
});

test('memory beyond the heap, the heap, and time each have an end', async () => {
  const tooMuch = { fault: expect.stringContaining('too much memory'), fileType: undefined };
  expect(await run(bomb, { ...readingLimits, heapMebibytes: 2000, memoryMebibytes: 200 })).toEqual(tooMuch);
  // A list that grows beyond the heap's limit in one step ends the whole process that it is in.
  const list = `[${'[],'.repeat(2_500_000)}0]`;
  expect(await run(list, { ...readingLimits, heapMebibytes: 40 })).toEqual(tooMuch);
  expect(await run('Good day.', { ...readingLimits, seconds: 0.001 })).toEqual({
    fault: expect.stringContaining('too long'),
    fileType: undefined,
  });
  expect(await run('Good day.')).toEqual({ fileType: 'txt', bytes: 9 });
});

test('a reading that is called off, or whose file or passages fail, throws', async () => {
  const called = new AbortController();
  const waiting = runReader(
    (async function* () {
      yield Buffer.from('x');
      await new Promise(() => undefined);
    })(),
    readingLimits,
    ignore,
    called.signal,
  );
  called.abort(new Error('Called off.'));
  await expect(waiting).rejects.toThrow('Called off.');
  await expect(runReader(content('x'), readingLimits, ignore, AbortSignal.abort(new Error('No.')))).rejects.toThrow(
    'No.',
  );
  const failing = async () => {
    throw new Error('No database.');
  };
  await expect(runReader(content('x'), readingLimits, failing, never)).rejects.toThrow('No database.');
  const broken = (async function* () {
    yield Buffer.from('x');
    throw new Error('No store.');
  })();
  await expect(runReader(broken, readingLimits, ignore, never)).rejects.toThrow('No store.');
});

const inBase = (kbId: string) => ({ knowledgeBaseId: fromId(kbId) });

/** Adds a document that no job is there for. */
async function addUnread(kbId: string, text: string) {
  const [document] = await addFiles(server, kbId, { 'a.txt': text });
  await settled(server, kbId);
  const id = fromId(document!.id);
  const row = await server.database.inEngine((tx) =>
    tx.db
      .updateTable('knowledge_base_documents')
      .set({ status: 'pending', file_type: null, extracted_text_size_bytes: null })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
  return { docId: document!.id, job: { workspaceId: row.workspace_id, documentId: id }, ...inBase(kbId) };
}

const passageCount = (job: { workspaceId: string; documentId: string }) =>
  server.database.inWorkspace(job.workspaceId, async (tx) => {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from knowledge_base_passages where document_id = ${job.documentId}`.execute(tx.db);
    return rows[0]!.count;
  });

test('a reading begins anew after another died at it, and leaves each passage once', async () => {
  const kbId = await createBase(server);
  const { job } = await addUnread(kbId, 'A day at the sea.');
  await server.database.inEngine((tx) =>
    tx.db
      .updateTable('knowledge_base_documents')
      .set({ status: 'processing' })
      .where('id', '=', job.documentId)
      .execute(),
  );
  expect((await readBase(server, kbId)).status).toBe('processing');
  expect(await search(server, kbId, 'sea')).toEqual([]);
  await readDocument(deps, job, never);
  expect((await readBase(server, kbId)).status).toBe('ready');
  expect(await search(server, kbId, 'sea')).toHaveLength(1);
  expect(await passageCount(job)).toBe(1);
  await readDocument(deps, job, never);
  expect((await readBase(server, kbId)).documents[0]).toMatchObject({ status: 'ready', extractedTextSizeBytes: 17 });
});

test('a reading that was thought dead writes nothing over the next one', async () => {
  const kbId = await createBase(server);
  const { job } = await addUnread(kbId, 'A day at the sea.');
  const file = await deps.objects.get(`documents/${(await readBase(server, kbId)).documents[0]!.id}`);
  let begun = () => {};
  let goOn = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const slow = {
    ...deps,
    objects: {
      ...deps.objects,
      get: async () =>
        (async function* () {
          begun();
          await mayGoOn;
          yield* file;
        })(),
    },
  };
  const first = readDocument(slow, job, never);
  await hasBegun;
  await readDocument(deps, job, never);
  goOn();
  await first;
  expect((await readBase(server, kbId)).status).toBe('ready');
  expect(await passageCount(job)).toBe(1);
});

test('a document is deleted while it is read, with all that is of it', async () => {
  const kbId = await createBase(server);
  const { job, docId } = await addUnread(kbId, 'A day at the sea.');
  const remove = () => server.client.DELETE(`${bases}/{kbId}/documents/{docId}`, { params: { path: { kbId, docId } } });
  const removing = {
    ...deps,
    objects: {
      ...deps.objects,
      get: async () => {
        await remove();
        return content('A day at the sea.');
      },
    },
  };
  await readDocument(removing, job, never);
  expect((await readBase(server, kbId)).status).toBe('empty');
  await until(async () => !(await readdir(path.join(dataDir, 'objects/documents'))).includes(docId));
  expect(await passageCount(job)).toBe(0);
  await readDocument(deps, job, never);
  await giveUpReading(deps, job);
  expect((await readBase(server, kbId)).status).toBe('empty');
});

test('a reading that fails every time ends as failed', async () => {
  const kbId = await createBase(server);
  const { job } = await addUnread(kbId, 'A day at the sea.');
  const away = { ...deps, objects: { ...deps.objects, get: () => Promise.reject(new Error('The store is away.')) } };
  await expect(readDocument(away, job, never)).rejects.toThrow('The store is away.');
  expect((await readBase(server, kbId)).status).toBe('processing');
  await giveUpReading(deps, job);
  const { status, documents } = await readBase(server, kbId);
  expect([status, documents[0]!.errorMessage]).toEqual(['failed', expect.stringContaining('upload it again')]);
  expect(await passageCount(job)).toBe(0);
});

test('the job itself is tried again while the file can not be had', async () => {
  const kbId = await createBase(server);
  const { job, docId } = await addUnread(kbId, 'A day at the sea.');
  const file = path.join(dataDir, 'objects/documents', docId);
  await rename(file, `${file}.away`);
  await server.database.inWorkspace(job.workspaceId, (tx) => deps.jobs.enqueue(tx, readQueue, job));
  const isTried = async () => {
    const { reading } = await server.database.inEngine((tx) =>
      tx.db
        .selectFrom('knowledge_base_documents')
        .select('reading')
        .where('id', '=', job.documentId)
        .executeTakeFirstOrThrow(),
    );
    return reading > 1;
  };
  await until(isTried);
  await rename(`${file}.away`, file);
  expect((await settled(server, kbId)).documents[0]).toMatchObject({ status: 'ready', extractedTextSizeBytes: 17 });
});

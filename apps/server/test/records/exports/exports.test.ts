import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertBatchList } from '../../../src/audience/contact-lists/insert-batch-list.ts';
import type { EraseJob } from '../../../src/audience/contact-lists/queues.ts';
import { waitingCalls } from '../../../src/dialing/call-intents/waiting-calls.ts';
import { callStore } from '../../../src/dialing/calls/store.ts';
import { campaignCallDetails } from '../../../src/dialing/campaigns/own-calls.ts';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import type { ExportDeps } from '../../../src/records/exports/deps.ts';
import { insertExport } from '../../../src/records/exports/store.ts';
import { giveUpExport, writeExport } from '../../../src/records/exports/write-export.ts';
import { importFile } from '../../audience/contact-lists/contact-files.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { insertRows, seedRow, seedRows } from '../../seed/rows.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

type Create = components['schemas']['CreateExport'];

let server: TestServer;
/** The server, with a key of the test's workspace. */
let on: TestServer;
let client: TestServer['client'];
let workspaceId: string;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Each test has a workspace of its own. */
beforeEach(async () => {
  const name = newUuid();
  const apiKey = await keyWith(server, { permissions: ['*'], workspace: name });
  client = server.clientOf(apiKey);
  on = { ...server, apiKey, client };
  const found = await server.database.inEngine(({ db }) =>
    db.selectFrom('workspaces').select('id').where('name', '=', name).executeTakeFirstOrThrow(),
  );
  workspaceId = found.id;
});

const create = (body: Create, key?: string) =>
  client.POST('/v1/exports', { body, params: { header: key === undefined ? {} : { 'Idempotency-Key': key } } });
const read = async (exportId: string) =>
  (await client.GET('/v1/exports/{exportId}', { params: { path: { exportId } } })).data!;

/** The file of an export, as lines of cells, and the export. */
async function exported(body: Create) {
  const { data, error, response } = await create(body);
  if (!data) throw new Error(JSON.stringify(error));
  expect([response.status, data.status]).toEqual([202, 'queued']);
  await until(async () => !['queued', 'running'].includes((await read(data.id)).status));
  const ready = await read(data.id);
  const file = ready.url ? await fetch(ready.url) : undefined;
  const text = (await file?.text()) ?? '';
  return { ready, file, text, lines: text.split('\r\n').slice(0, -1) };
}

const call = (given: object = {}) => ({
  workspace_id: workspaceId,
  status: 'completed',
  outcome: 'answered',
  ...given,
});
const seedCalls = (given: object[]) => seedRows(server.database, 'calls', given as never[]);

describe('calls', () => {
  test('are written with what is known of them, each in its column', async () => {
    const at = (second: number) => new Date(Date.UTC(2026, 2, 10, 12, 0, second));
    const [row] = await seedCalls([
      call({
        to_number: 14155550142,
        queued_at: at(0),
        answered_at: at(3),
        ended_at: at(5),
        ended_by: 'callee',
        reason: 'expired',
        agent_end: { reason: 'hung_up', soundLeftOutMs: 0, framesMissed: 0 },
        external_id: 'order-7781',
        tags: ['a', 'b,c'],
        metadata: { team: 'north' },
        result: { converted: true, summary: 'Said "yes",\nthen left.', recordedAt: at(5).toISOString() },
      }),
    ]);
    const { ready, file, text, lines } = await exported({ type: 'calls' });
    expect(ready).toMatchObject({ type: 'calls', filter: {}, status: 'ready', rowCount: 1 });
    // Read as text, a file loses the byte order mark that it begins with.
    expect(ready.sizeBytes).toBe(Buffer.byteLength(`\ufeff${text}`));
    expect(Date.parse(ready.expiresAt!) - Date.parse(ready.readyAt!)).toBe(24 * 3600 * 1000);
    expect(file!.headers.get('content-disposition')).toContain('calls.csv');
    expect(lines[0]).toMatch(/^roomId,status,outcome,direction,simulated,fromNumber,toNumber,agentId,/);
    expect(text).toContain(
      `${toId('room', row!.id)},completed,answered,outbound,true,'+14155550100,'+14155550142,agent,`,
    );
    expect(text).toContain(`order-7781,"[""a"",""b,c""]","{""team"":""north""}"`);
    expect(text).toContain(`2026-03-10T12:00:05.000Z,2,callee,`);
    expect(lines[0]).toContain(',sipStatus,sipReason,reason,converted,');
    expect(text).toContain(`,expired,true,,"Said ""yes"",\nthen left."`);
    expect(lines[0]).toMatch(/,cost,agentEnd,usage,dataComplete,transcript,answeredByEvidence,messageLeft$/);
    expect(text).toContain(`""reason"":""hung_up""`);
  });

  test('bear no formula', async () => {
    const formulas = ['=1+2', '+cmd', '-1', '@sum', '\t=1', '＝1+2', '＋cmd', '－1', '＠sum'];
    await seedCalls(
      formulas.map((external_id, at) => call({ to_number: 14155550100 + at, external_id, ended_at: new Date() })),
    );
    const { text } = await exported({ type: 'calls' });
    for (const formula of formulas) expect(text).toContain(`'${formula}`);
    expect(text).not.toMatch(/(^|,|\n)"?[=+\-@\t]/);
  });

  test('are those that the filter leaves, and of this workspace', async () => {
    const ended = { ended_at: new Date() };
    const other = await seedRow(server.database, 'workspaces');
    const [campaign, batch] = [newUuid(), newUuid()];
    await server.database.inEngine(({ db }) =>
      insertRows(db, 'campaigns', [{ workspace_id: workspaceId, id: campaign, status: 'completed' }]),
    );
    await server.database.inEngine(({ db }) =>
      sql`insert into batches (workspace_id, id, rejected, rejected_count) values (${workspaceId}, ${batch}, '[]', 0)`.execute(
        db,
      ),
    );
    const rows = [
      call({ ...ended, external_id: 'mine', to_number: 1 }),
      call({ ...ended, external_id: 'theirs', workspace_id: other.id }),
      call({ ...ended, external_id: 'busy', status: 'failed', outcome: 'busy' }),
      call({ ...ended, external_id: 'tagged', tags: ['x', 'y'] }),
      call({ ...ended, external_id: 'in', direction: 'inbound' }),
      call({ ...ended, external_id: 'anna', agent_id: 'anna' }),
      call({ ...ended, external_id: 'old', queued_at: new Date('2026-01-01T00:00:00Z') }),
      call({ ...ended, external_id: 'numbered', to_number: 14155550142 }),
      call({ ...ended, external_id: 'campaign', campaign_id: campaign }),
      call({ ...ended, external_id: 'batch', campaign_id: batch }),
      call({ ...ended, external_id: 'later', queued_at: new Date(server.clock.now().getTime() + 3_600_000) }),
    ];
    await seedCalls(rows.map((row) => ({ to_number: 14155550199, ...row })));
    const idsOf = async (filter: components['schemas']['CallExportFilterInput']) => {
      const { lines } = await exported({ type: 'calls', filter });
      const at = lines[0]!.split(',').indexOf('externalId');
      return lines.slice(1).map((line) => line.split(',')[at]);
    };
    expect((await idsOf({})).sort()).toEqual([
      'anna',
      'batch',
      'busy',
      'campaign',
      'in',
      'mine',
      'numbered',
      'old',
      'tagged',
    ]);
    expect(await idsOf({ statuses: ['failed', 'cancelled'] })).toEqual(['busy']);
    expect(await idsOf({ outcomes: ['busy'] })).toEqual(['busy']);
    expect(await idsOf({ tags: ['y', 'x'] })).toEqual(['tagged']);
    expect(await idsOf({ direction: 'inbound' })).toEqual(['in']);
    expect(await idsOf({ agentId: 'anna' })).toEqual(['anna']);
    expect(await idsOf({ externalId: 'theirs' })).toEqual([]);
    expect(await idsOf({ queuedBefore: '2026-01-02T00:00:00Z', queuedAfter: '2026-01-01T00:00:00Z' })).toEqual(['old']);
    expect(await idsOf({ phoneNumber: '+14155550142' })).toEqual(['numbered']);
    expect(await idsOf({ campaignId: toId('cmp', campaign) })).toEqual(['campaign']);
    expect(await idsOf({ campaignId: toId('cmp', batch) })).toEqual([]);
    expect(await idsOf({ batchId: toId('bat', batch) })).toEqual(['batch']);
    expect(await idsOf({ workflowRunId: toId('run', newUuid()) })).toEqual([]);
  });

  test('are each there once, over many sets of them, also those of one moment', async () => {
    const at = new Date('2026-02-01T00:00:00Z');
    const campaign_id = newUuid();
    await seedCalls(
      Array.from({ length: 450 }, (_, i) =>
        call({ to_number: 14150000000 + i, queued_at: at, ended_at: at, campaign_id, external_id: `n${i}` }),
      ),
    );
    // Finer than a Date, and of texts that sort otherwise than their times.
    await server.database.inEngine(({ db }) =>
      sql`update calls set queued_at = queued_at + (to_number % 7) * interval '1 hour' + (to_number % 13) * interval '10 microseconds'
        where workspace_id = ${workspaceId}`.execute(db),
    );
    for (const filter of [{}, { campaignId: toId('cmp', campaign_id) }]) {
      const { lines, ready } = await exported({ type: 'calls', filter });
      expect(ready.rowCount).toBe(450);
      expect(new Set(lines.slice(1)).size).toBe(450);
    }
  });
});

/** An ended batch of one recipient, with its list. @returns their UUID */
async function seedBatch(): Promise<string> {
  const id = newUuid();
  const now = server.clock.now();
  const entries = [{ toNumber: 14155550142, name: 'Ana', timezone: 'America/Lima' }];
  await server.database.inWorkspace(workspaceId, (tx) =>
    insertBatchList(tx, { id, name: 'batch', storageKey: `batches/${id}`, entries, now }),
  );
  const batch = { workspace_id: workspaceId, id, kind: 'batch', status: 'cancelled', contacts_added: true } as const;
  await seedRow(server.database, 'campaigns', batch);
  await seedRow(server.database, 'campaign_lists', { workspace_id: workspaceId, campaign_id: id, list_id: id });
  await server.database.inEngine(({ db }) =>
    sql`insert into batches (workspace_id, id, rejected, rejected_count) values (${workspaceId}, ${id}, '[]', 0)`.execute(
      db,
    ),
  );
  return id;
}

const LIST_COLUMNS = 'phoneNumber,name,timezone,doNotCall,consent,consentSource,consentTime,consentPurpose';

describe('contacts', () => {
  test('of a list are a file that can be uploaded again', async () => {
    const { id } = await importFile(
      on,
      'phone,name,timezone,city,dnc,consent,consent_source\n+14155550101,Ana,America/New_York,Lima,,yes,form\n+14155550102,"=cmd",,,x,,\n',
    );
    const { text, ready } = await exported({ type: 'contacts', filter: { contactListId: id } });
    expect(text).toBe(
      `${LIST_COLUMNS},city\r\n'+14155550101,Ana,America/New_York,,yes,form,,,Lima\r\n'+14155550102,'=cmd,,yes,,,,,\r\n`,
    );
    expect(ready.rowCount).toBe(2);
    const again = await importFile(on, text);
    const counts = { validRows: 2, invalidRows: 0, doNotCallRows: 1, consentRows: 1 };
    expect(again.upload.metadata).toMatchObject(counts);
  });

  test('of a list of a batch are there too', async () => {
    const contactListId = toId('list', await seedBatch());
    const { text } = await exported({ type: 'contacts', filter: { contactListId } });
    expect(text).toBe(`${LIST_COLUMNS}\r\n'+14155550142,Ana,America/Lima,,,,,\r\n`);
  });

  test('have columns of different names, whatever their variables are called', async () => {
    const { id } = await importFile(on, 'phone_number,name,phoneNumber,name,state\n+14155550101,Ana,home,Bee,Ohio\n');
    const { lines } = await exported({ type: 'contacts', filter: { contactListId: id } });
    expect(lines).toEqual([`${LIST_COLUMNS},phoneNumber_2,name_2,state`, "'+14155550101,Ana,,,,,,,home,Bee,Ohio"]);
    const { campaignId, listId } = await seedCampaign(server.database, { workspaceId, contacts: 0 });
    await server.database.inEngine(({ db }) =>
      sql`update contact_lists set columns = '{state}' where id = ${listId}`.execute(db),
    );
    const ofCampaign = await exported({ type: 'contacts', filter: { campaignId: toId('cmp', campaignId) } });
    expect(ofCampaign.lines[0]).toMatch(/^contactId,phoneNumber,name,state,.*,externalId,state_2$/);
  });

  test('of a campaign say how far each is', async () => {
    const { campaignId, listId } = await seedCampaign(server.database, {
      workspaceId,
      contacts: 0,
      campaign: { status: 'paused', contacts_added: true },
    });
    const contact = { workspace_id: workspaceId, campaign_id: campaignId, list_id: listId };
    const [done] = await seedRows(server.database, 'campaign_contacts', [
      { ...contact, phone_number: 14155550101, state: 'done', last_outcome: 'answered', values: ['Lima'], name: 'Ana' },
      { ...contact, phone_number: 14155550102, state: 'skipped', reason: 'do_not_call', external_id: 'c-2' },
    ]);
    await seedCalls([
      call({
        to_number: 14155550101,
        owner_kind: 'contact',
        owner_id: done!.id,
        dialed_at: new Date(),
        ended_at: new Date(),
      }),
    ]);
    const { lines } = await exported({ type: 'contacts', filter: { campaignId: toId('cmp', campaignId) } });
    expect(lines[0]).toBe('contactId,phoneNumber,name,state,attempts,lastOutcome,reason,externalId,city');
    expect(lines.slice(1)).toEqual([
      `${toId('cc', done!.id)},'+14155550101,Ana,done,1,answered,,,Lima`,
      expect.stringMatching(/^cc_\w+,'\+14155550102,,skipped,0,,do_not_call,c-2,$/),
    ]);
  });

  test('of what is not there are refused, and of two things at once', async () => {
    const codeOf = async (filter: object) => {
      const { response, error } = await create({ type: 'contacts', filter });
      return [response.status, error?.code, error?.details?.[0]?.path];
    };
    expect(await codeOf({ contactListId: toId('list', newUuid()) })).toEqual([
      404,
      'not_found',
      '/body/filter/contactListId',
    ]);
    expect(await codeOf({ campaignId: toId('cmp', newUuid()) })).toEqual([404, 'not_found', '/body/filter/campaignId']);
    expect(await codeOf({ batchId: toId('bat', newUuid()) })).toEqual([404, 'not_found', '/body/filter/batchId']);
    expect(await codeOf({})).toEqual([400, 'invalid_request', '/body/filter']);
    const both = { contactListId: toId('list', newUuid()), campaignId: toId('cmp', newUuid()) };
    expect(await codeOf(both)).toEqual([400, 'invalid_request', '/body/filter']);
  });

  test('need the permission that reading them does', async () => {
    const { id } = await importFile(on, 'phone\n+14155550101\n');
    const { ready } = await exported({ type: 'contacts', filter: { contactListId: id } });
    const name = (await client.GET('/v1/workspace')).data!.data.name;
    const poor = server.clientOf(await keyWith(server, { permissions: ['calls:read'], workspace: name }));
    const asked = await poor.POST('/v1/exports', { body: { type: 'contacts', filter: { contactListId: id } } });
    expect([asked.response.status, asked.error!.error]).toEqual([
      403,
      'This key lacks the permission contact_lists:read.',
    ]);
    const found = await poor.GET('/v1/exports/{exportId}', { params: { path: { exportId: ready.id } } });
    expect(found.response.status).toBe(403);
    expect((await poor.GET('/v1/exports')).data!.items[0]).not.toHaveProperty('url');
    expect((await poor.POST('/v1/exports', { body: { type: 'calls' } })).response.status).toBe(202);
  });
});

describe('an export', () => {
  const seedExport = (given: { status: string; slot?: number | null; created_at?: Date; storage_key?: string }) => {
    const id = newUuid();
    const { status, slot = null, created_at = server.clock.now(), storage_key = null } = given;
    const insert = server.database.inEngine(({ db }) =>
      sql`insert into exports (workspace_id, id, type, filter, status, slot, created_at, storage_key)
        values (${workspaceId}, ${id}, 'calls', '{}', ${status}, ${slot}, ${created_at}, ${storage_key})`.execute(db),
    );
    return insert.then(() => id);
  };

  test('is one of two at once, however many are asked for together', async () => {
    const asked = [1, 2, 3].map(() =>
      server.database.inWorkspace(workspaceId, (tx) =>
        insertExport(tx, { id: newUuid(), type: 'calls', filter: {} }, server.clock.now()),
      ),
    );
    expect((await Promise.all(asked)).filter((row) => row !== undefined)).toHaveLength(2);
    const { error, response } = await create({ type: 'calls' });
    expect([response.status, error!.code]).toEqual([409, 'limit_reached']);
  });

  test('is asked for once by one Idempotency-Key', async () => {
    const first = await create({ type: 'calls' }, 'once');
    const again = await create({ type: 'calls' }, 'once');
    expect(again.data!.id).toBe(first.data!.id);
    expect(again.response.headers.get('Idempotent-Replayed')).toBe('true');
    expect(first.response.headers.get('Idempotent-Replayed')).toBeNull();
    const other = await create({ type: 'calls', filter: { direction: 'inbound' } }, 'once');
    expect([other.response.status, other.error!.code]).toEqual([409, 'idempotency_key_reused']);
    expect((await client.GET('/v1/exports')).data!.totalCount).toBe(1);
  });

  test('has a file for a day, and is forgotten after a month', async () => {
    const { ready } = await exported({ type: 'calls' });
    server.clock.advance(24 * 3600 * 1000 - 60_000);
    const late = await read(ready.id);
    expect((await fetch(late.url!)).status).toBe(200);
    server.clock.advance(61_000);
    expect(await read(ready.id)).toMatchObject({ status: 'expired', expiresAt: ready.expiresAt });
    expect(await read(ready.id)).not.toHaveProperty('url');
    expect((await fetch(late.url!)).status).toBe(403);
    const stored = () =>
      server.database.inEngine(({ db }) =>
        sql<{ status: string }>`select status from exports where workspace_id = ${workspaceId}`.execute(db),
      );
    await until(async () => (await stored()).rows[0]!.status === 'expired');
    server.clock.advance(30 * 24 * 3600 * 1000);
    await until(async () => (await stored()).rows.length === 0);
  });

  const remove = (exportId: string) => client.DELETE('/v1/exports/{exportId}', { params: { path: { exportId } } });

  test('goes with its file when it is deleted', async () => {
    const { ready } = await exported({ type: 'calls' });
    expect((await remove(ready.id)).data).toEqual({ id: ready.id, deleted: true });
    expect((await remove(ready.id)).error!.code).toBe('not_found');
    await until(async () => (await fetch(ready.url!)).status === 404);
    expect((await client.GET('/v1/exports')).data!.totalCount).toBe(0);
  });

  test('of another workspace is not there', async () => {
    const { ready } = await exported({ type: 'calls' });
    const { response } = await server.client.GET('/v1/exports/{exportId}', {
      params: { path: { exportId: ready.id } },
    });
    expect(response.status).toBe(404);
  });

  /** What writes exports, with files in memory. */
  function writer() {
    const files = new Map<string, string>();
    const deleted: string[] = [];
    const erasedLater: string[] = [];
    /** What happens before a file is read, after it is, and once it is there. */
    const hold: Partial<Record<'before' | 'after' | 'stored', () => Promise<void>>> = {};
    const objects = {
      put: async (key: string, content: AsyncIterable<Uint8Array>) => {
        let text = '';
        await hold.before?.();
        for await (const chunk of content) text += Buffer.from(chunk).toString();
        await hold.after?.();
        files.set(key, text);
        await hold.stored?.();
        return true;
      },
    };
    /** What is enqueued is done at once, but for what is to be done later. */
    const jobs = {
      enqueue: async (
        _tx: unknown,
        _queue: string,
        { files: keys }: EraseJob,
        { afterSeconds } = { afterSeconds: 0 },
      ) => {
        for (const key of keys) {
          if (afterSeconds > 0) {
            erasedLater.push(key);
            continue;
          }
          deleted.push(key);
          files.delete(key);
        }
      },
    };
    const { database, clock } = server;
    const deps = {
      database,
      clock,
      jobs,
      objects,
      calls: callStore(campaignCallDetails, waitingCalls),
      mostRows: 1,
      mostBytes: 1000,
    } as unknown as ExportDeps;
    const write = (exportId: string, signal = new AbortController().signal) =>
      writeExport(deps, { workspaceId, exportId }, signal);
    return { files, deleted, erasedLater, hold, deps, write };
  }

  test('is written anew where the process that wrote it has died or sleeps, and only once', async () => {
    const { files, deleted, hold, write } = writer();
    const id = await seedExport({ status: 'running', slot: 1, storage_key: 'exports/of-the-dead.csv' });
    let wake = () => {};
    const sleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    hold.after = () => sleep;
    const sleeping = write(id);
    await until(() => deleted.includes('exports/of-the-dead.csv'));
    delete hold.after;
    await write(id);
    const [written] = [...files.keys()];
    expect(await read(toId('exp', id))).toMatchObject({ status: 'ready', rowCount: 0 });
    wake();
    await sleeping;
    expect([...files.keys()]).toEqual([written]);
    await write(id);
    expect([...files.keys()]).toEqual([written]);
  });

  test.each(['before', 'after'] as const)('that is deleted %s its file is written leaves none', async (when) => {
    await seedCalls([call({ to_number: 14155550101, ended_at: new Date() })]);
    const { files, deleted, hold, write } = writer();
    const id = await seedExport({ status: 'queued', slot: 1 });
    const stored: string[] = [];
    hold[when] = async () => {
      if (when === 'after') stored.push('all of it');
      expect((await remove(toId('exp', id))).response.status).toBe(200);
    };
    if (when === 'before') hold.after = async () => void stored.push('all of it');
    await write(id);
    expect([stored.length, files.size]).toEqual([when === 'after' ? 1 : 0, 0]);
    expect(new Set(deleted).size).toBe(1);
  });

  test('that another one has taken over is erased once more, should its first writer die with the file just put', async () => {
    const { files, erasedLater, hold, write } = writer();
    const id = await seedExport({ status: 'queued', slot: 1 });
    hold.after = async () => {
      delete hold.after;
      await write(id);
      hold.stored = () => Promise.reject(new Error('dead'));
    };
    await expect(write(id)).rejects.toThrow('dead');
    expect(files.size).toBe(2);
    expect(await read(toId('exp', id))).toMatchObject({ status: 'ready' });
    const [late] = erasedLater;
    expect([...files.keys()]).toContain(late);
  });

  test('that a server lets go of can be taken up, and fails where it can never be written', async () => {
    const { write, deps } = writer();
    const id = await seedExport({ status: 'queued', slot: 1 });
    await expect(write(id, AbortSignal.abort())).rejects.toThrow();
    expect((await read(toId('exp', id))).status).toBe('running');
    await giveUpExport(deps, { workspaceId, exportId: id });
    expect(await read(toId('exp', id))).toMatchObject({
      status: 'failed',
      failure: { code: 'could_not_be_written', message: 'The file could not be written. Ask for the export again.' },
    });
    expect((await create({ type: 'calls' })).response.status).toBe(202);
  });

  test('fails where the filter leaves too many rows', async () => {
    const { files, write } = writer();
    await seedCalls([1, 2].map((at) => call({ to_number: 14155550100 + at, ended_at: new Date() })));
    const id = await seedExport({ status: 'queued', slot: 1 });
    await write(id);
    expect((await read(toId('exp', id))).failure).toEqual({
      code: 'too_many_rows',
      message: 'There are more than 1,000,000 rows. Narrow the filter.',
    });
    expect([...files.keys()]).toEqual([]);
  });

  test('fails where its file grows too large', async () => {
    const { files, write } = writer();
    await seedCalls([call({ to_number: 14155550101, ended_at: new Date(), external_id: 'x'.repeat(900) })]);
    const id = await seedExport({ status: 'queued', slot: 1 });
    await write(id);
    expect((await read(toId('exp', id))).failure).toEqual({
      code: 'file_too_large',
      message: 'The file would be larger than 2 GiB. Narrow the filter.',
    });
    expect([...files.keys()]).toEqual([]);
  });

  test.each([
    ['50 files of exports', 50, 1],
    ['10 GiB of exports', 5, 2 * 2 ** 30],
  ])('waits while the workspace keeps %s', async (kept, files, bytes) => {
    const ends = new Date(server.clock.now().getTime() + 3_600_000);
    await server.database.inEngine(({ db }) =>
      sql`insert into exports (workspace_id, id, type, filter, status, created_at, size_bytes, expires_at)
        select ${workspaceId}, gen_random_uuid(), 'calls', '{}', 'ready', ${ends}, ${bytes},
          ${ends}::timestamptz + at * interval '1 minute' from generate_series(0, ${files - 1}::int) as at`.execute(db),
    );
    const { error, response } = await create({ type: 'calls' });
    expect([response.status, error!.code]).toEqual([409, 'limit_reached']);
    expect(error!.error).toContain(`keeps ${kept}. Ask again after ${ends.toISOString()}`);
    await server.database.inEngine(({ db }) =>
      sql`update exports set expires_at = created_at - interval '2 hours'
        where workspace_id = ${workspaceId} and expires_at = created_at`.execute(db),
    );
    expect((await create({ type: 'calls' })).response.status).toBe(202);
  });

  test('of contacts goes with their list, campaign or batch', async () => {
    const { id: list } = await importFile(on, 'phone\n+14155550101\n');
    const { campaignId, listId } = await seedCampaign(server.database, {
      workspaceId,
      contacts: 0,
      campaign: { status: 'completed', contacts_added: true },
    });
    const batchId = await seedBatch();
    const [batch, campaign, itsList] = [toId('bat', batchId), toId('cmp', campaignId), toId('list', listId)];
    const exports: Record<string, string> = {};
    for (const [source, filter] of Object.entries({
      list: { contactListId: list },
      itsList: { contactListId: itsList },
      campaign: { campaignId: campaign },
      batch: { batchId: batch },
      batchList: { contactListId: toId('list', batchId) },
    })) {
      exports[source] = (await exported({ type: 'contacts', filter })).ready.id;
    }
    const calls = (await exported({ type: 'calls' })).ready.id;
    const ready = async () => {
      const found = Object.entries(exports).map(async ([source, id]) => [source, await read(id)] as const);
      return (await Promise.all(found)).flatMap(([source, { status }]) => (status === 'ready' ? [source] : []));
    };
    const byId = (id: string) => ({ params: { path: { id } } });
    expect(await ready()).toEqual(['list', 'itsList', 'campaign', 'batch', 'batchList']);
    await client.DELETE('/v1/calls/contact-lists/{id}', byId(list));
    expect(await ready()).toEqual(['itsList', 'campaign', 'batch', 'batchList']);
    // It is kept as archived, for its campaign.
    await client.DELETE('/v1/calls/contact-lists/{id}', byId(itsList));
    expect(await ready()).toEqual(['campaign', 'batch', 'batchList']);
    await client.DELETE('/v1/calls/campaigns/{id}', byId(campaign));
    expect(await ready()).toEqual(['batch', 'batchList']);
    await client.DELETE('/v1/calls/batch/{batchId}', { params: { path: { batchId: batch } } });
    expect(await ready()).toEqual([]);
    expect((await read(calls)).status).toBe('ready');
  });

  test.each([false, true])(
    'fails where its list is gone by then, also while it is written: %s',
    async (duringWrite) => {
      const { id } = await importFile(on, 'phone\n+14155550101\n');
      const exportId = await seedExport({ status: 'queued', slot: 1 });
      await server.database.inEngine(({ db }) =>
        sql`update exports set type = 'contacts', filter = ${JSON.stringify({ contactListId: id })}::jsonb where id = ${exportId}`.execute(
          db,
        ),
      );
      const { files, hold, write } = writer();
      const remove = async () => {
        await client.DELETE('/v1/calls/contact-lists/{id}', { params: { path: { id } } });
      };
      if (duringWrite) hold.after = remove;
      else await remove();
      await write(exportId);
      expect((await read(toId('exp', exportId))).failure!.code).toBe('source_deleted');
      expect([...files.keys()]).toEqual([]);
    },
  );
});

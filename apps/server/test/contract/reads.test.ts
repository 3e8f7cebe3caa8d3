import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { operationsOf } from '../../src/foundation/http/contract.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';
import { fromId, toId } from '../../src/foundation/values/ids.ts';
import { seedList } from '../seed/list.ts';
import { seedRow } from '../seed/rows.ts';
import { seedNumber } from '../seed/workspace.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { exampleRequest } from './example-request.ts';

const document = forValidator(loadContract());
const reads = operationsOf(document).filter(({ method, path }) => method === 'GET' && path.startsWith('/v1/'));

let server: TestServer;
/** One resource of every kind that is at rest, by the prefix of its ID. */
const idOf = new Map<string, string>();
const note = (id: string | undefined) => idOf.set(id!.slice(0, id!.indexOf('_')), id!);

beforeAll(async () => {
  server = await startTestServer();
  const { client, database } = server;
  const workspace = (await client.GET('/v1/workspace')).data!.data;
  const workspaceId = fromId(workspace.id);
  await seedNumber(database, workspaceId, '+14155550199');
  note(toId('list', await seedList(database, workspaceId, [{ phone_number: 14155550100 }])));
  const call = { to_number: 14155550100, status: 'completed' as const, ended_at: new Date() };
  note(toId('room', (await seedRow(database, 'calls', { workspace_id: workspaceId, ...call })).id));
  const trunk = (await client.POST('/v1/telephony/trunks', { body: { terminationUrl: 'ok.sim' } })).data!;
  note(trunk.id);
  note((await client.POST('/v1/number-pools', { body: { name: 'Pool' } })).data!.data.id);
  note((await client.POST('/v1/knowledge-bases', { body: { name: 'Handbook' } })).data!.data.id);
  const lists = [{ id: idOf.get('list')!, role: 'contacts' as const }];
  const campaign = { name: 'Draft', agentId: 'a', fromNumber: '+14155550199', lists };
  note((await client.POST('/v1/calls/campaigns', { body: campaign })).data!.data.id);
  const end = { id: 'end', type: 'end' as const, title: 'End', status: 'completed' as const };
  note((await client.POST('/v1/workflows', { body: { name: 'One', startNodeId: 'end', nodes: [end] } })).data!.data.id);
  const hook = { url: 'https://hooks.invalid/calls', eventTypes: ['call.ended' as const] };
  note((await client.POST('/v1/webhooks', { body: hook })).data!.data.id);
  // A check of it would find something else than what is known.
  await database.inEngine(({ db }) =>
    sql`update trunks set status = 'paused', reason = 'unreachable', due_at = null`.execute(db),
  );
});
afterAll(() => server.stop());

/** What a read may leave: when its key was last used. */
const MAY_CHANGE = ['last_used_at'];

/** Every row of every workspace. */
async function rowsOf(): Promise<unknown[]> {
  return server.database.inEngine(async ({ db }) => {
    const tables = await sql<{ name: string }>`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'workspace_id'
      order by 1`.execute(db);
    const each = tables.rows.map(
      ({ name }) => sql`
        select ${sql.lit(name)} as "table", to_jsonb(t) - ${sql.val(MAY_CHANGE)}::text[] as row from ${sql.table(name)} t`,
    );
    const { rows } = await sql`${sql.join(each, sql` union all `)} order by 1, 2`.execute(db);
    return rows;
  });
}

async function read(method: string, path: string): Promise<number> {
  const stop = new AbortController();
  const headers = { 'X-API-Key': server.apiKey };
  const response = await fetch(server.url + path, { method, headers, signal: stop.signal });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) await response.arrayBuffer();
  stop.abort();
  return response.status;
}

test('no GET and no HEAD writes anything', async () => {
  const before = await rowsOf();
  const answered: number[] = [];
  for (const operation of reads) {
    const [, path] = exampleRequest(document, operation);
    const ours = path.replaceAll(/([a-z]+)_[0-9a-f]{32}/g, (id, prefix) => idOf.get(prefix) ?? id);
    answered.push(await read('GET', ours), await read('HEAD', ours));
    expect({ path, rows: await rowsOf() }).toEqual({ path, rows: before });
  }
  expect(answered.filter((status) => status === 200).length).toBeGreaterThan(reads.length);
});

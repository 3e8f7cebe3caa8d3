import { sql } from 'kysely';
import { fromId, newUuid, toId } from '../../src/foundation/values/ids.ts';
import { importFile } from '../audience/contact-lists/contact-files.ts';
import type { TestServer } from '../server.ts';
import { until } from '../until.ts';
import { addFiles, bases } from '../voices/knowledge-bases/documents.ts';
import { uploadSound } from '../voices/sounds/sounds.ts';
import { toneFile } from '../voices/sounds/wav-files.ts';

/** What a workspace has: one resource of every kind, by the prefix of its ID, and the number that it calls from. */
export interface World {
  server: TestServer;
  fromNumber: string;
  idOf: Map<string, string>;
}

/** The answer's data, out of its envelope. Throws what the server said instead. */
function dataOf<T>({ data, error }: { data?: { data: T } | T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return typeof data === 'object' && data !== null && 'success' in data ? (data as { data: T }).data : (data as T);
}

/** Fills a workspace through the API. Its calls last until they are ended, if the simulator runs in real time. */
export async function buildWorld(server: TestServer, numbers: { from: string; to: [string, string] }): Promise<World> {
  const { client } = server;
  const idOf = new Map<string, string>();
  const note = (id: string) => idOf.set(id.slice(0, id.indexOf('_')), id);

  note(dataOf(await client.GET('/v1/workspace')).id);
  const body = { phoneNumber: numbers.from, provider: 'simulator' as const };
  const number = dataOf(await client.POST('/v1/telephony/phone-numbers/buy', { body }));
  note(number.id);
  const pool = { name: 'Reminders', phoneNumberIds: [number.id] };
  note(dataOf(await client.POST('/v1/number-pools', { body: pool })).id);
  note(dataOf(await client.POST('/v1/api-keys', { body: { name: 'CRM', permissions: ['calls:read'] } })).id);

  note(dataOf(await client.POST('/v1/sessions', { body: { apiKey: server.apiKey } })).id!);

  const person = { email: 'ada@example.com', role: 'viewer' as const };
  note(dataOf(await client.POST('/v1/members', { body: person })).id);

  const trunk = { terminationUrl: 'ok.sim' };
  note(dataOf(await client.POST('/v1/telephony/trunks', { body: trunk })).id);

  const base = dataOf(await client.POST(bases, { body: { name: 'Handbook' } }));
  note(base.id);
  note((await addFiles(server, base.id, { 'hours.txt': 'We are open.' }))[0]!.id);

  await until(async () => {
    const read = await client.GET('/v1/knowledge-bases/{kbId}', { params: { path: { kbId: base.id } } });
    return dataOf(read).status === 'ready';
  });
  const connection = { type: 'stream' as const, url: 'wss://agents.invalid/anna' };
  const agent = { name: 'Anna', connection, knowledgeBaseIds: [base.id] };
  note(dataOf(await client.POST('/v1/agents', { body: agent })).agent.id);

  note((await uploadSound(server, 'a.wav', toneFile({ rate: 8000, kind: 'pcm16', seconds: 0.1 }))).id);

  const url = 'https://hooks.invalid/calls';
  const webhook = dataOf(await client.POST('/v1/webhooks', { body: { url, eventTypes: ['call.ended'] } }));
  note(webhook.id);
  const endpoint = { params: { path: { webhookId: webhook.id } } };
  note(dataOf(await client.POST('/v1/webhooks/{webhookId}/test', endpoint)).id);

  const workflow = dataOf(
    await client.POST('/v1/workflows', {
      body: {
        name: 'Sleeps',
        startNodeId: 'sleep',
        nodes: [
          { id: 'sleep', type: 'wait', title: 'Sleep', seconds: 86_400, next: 'done' },
          { id: 'done', type: 'end', title: 'Done', status: 'completed' },
        ],
      },
    }),
  );
  note(workflow.id);
  const ofWorkflow = { path: { workflowId: workflow.id } };
  dataOf(await client.POST('/v1/workflows/{workflowId}/publish', { params: ofWorkflow }));
  const header = { 'Idempotency-Key': 'once' };
  const start = { params: { ...ofWorkflow, header }, body: {} };
  note(dataOf(await client.POST('/v1/workflows/{workflowId}/run', start)).id);

  const recipients = [{ phoneNumber: numbers.to[1]! }];
  const batch = { agentId: 'agent_reception', fromNumber: numbers.from, recipients };
  note(dataOf(await client.POST('/v1/calls/batch', { body: batch })).batchId);

  const file = `phone\n${numbers.to[0]}\n`;
  const ids = await importFile(server, file);
  note(ids.id);
  note(ids.uploadID);
  const campaign = dataOf(
    await client.POST('/v1/calls/campaigns', {
      body: {
        name: 'Reminders',
        agentId: 'agent_reception',
        fromNumber: numbers.from,
        lists: [{ id: ids.id, role: 'contacts' }],
      },
    }),
  );
  note(campaign.id);
  const wanted = { type: 'contacts', filter: { contactListId: ids.id } } as const;
  const exported = dataOf(await client.POST('/v1/exports', { body: wanted }));
  note(exported.id);
  await until(async () => {
    const read = await client.GET('/v1/exports/{exportId}', { params: { path: { exportId: exported.id } } });
    return dataOf(read).status === 'ready';
  });

  // One that is over: another would delete the files of this world.
  const erasureId = newUuid();
  await server.database.inEngine(({ db }) =>
    sql`
      insert into erasures (workspace_id, id, status, due_at, created_at, completed_at)
      select workspace_id, ${erasureId}, 'completed', created_at, created_at, created_at from contact_lists
      where id = ${fromId(ids.id)}`.execute(db),
  );
  note(toId('ers', erasureId));

  const params = { params: { path: { id: campaign.id } } };
  dataOf(await client.POST('/v1/calls/campaigns/{id}/start', params));
  await until(async () => {
    const { items } = dataOf(await client.GET('/v1/calls', { params: { query: { campaignId: campaign.id } } }));
    for (const call of items) {
      note(call.roomId);
      note(call.contactId!);
    }
    return items.length > 0;
  });
  const dtmfId = newUuid();
  await server.database.inEngine(({ db }) =>
    sql`
      insert into call_dtmf (workspace_id, id, room_id, status, requested_at, ended_at)
      select workspace_id, ${dtmfId}, id, 'sent', queued_at, queued_at from calls
      where id = ${fromId(idOf.get('room')!)}`.execute(db),
  );
  note(toId('dtmf', dtmfId));
  const transferId = newUuid();
  await server.database.inEngine(({ db }) =>
    sql`
      insert into call_transfers (workspace_id, id, room_id, status, reason, to_number, timeout_seconds, requested_at, settled_at)
      select workspace_id, ${transferId}, id, 'failed', 'busy', 14155550199, 30, queued_at, queued_at from calls
      where id = ${fromId(idOf.get('room')!)}`.execute(db),
  );
  note(toId('xfr', transferId));
  return { server, fromNumber: numbers.from, idOf };
}

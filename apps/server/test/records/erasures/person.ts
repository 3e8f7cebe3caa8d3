import { sql } from 'kysely';
import type { Database } from '../../../src/foundation/database/database.ts';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { seedRow } from '../../seed/rows.ts';

export const NUMBER = '+14155550142';
export const DIGITS = '14155550142';
const to_number = Number(DIGITS);

/** Writes a row of a table, whatever it holds. */
export const insertRow = (database: Database, table: string, row: Record<string, unknown>) =>
  database.inEngine(({ db }) =>
    sql`
      insert into ${sql.table(table)} select * from json_populate_record(null::${sql.table(table)},
        ${JSON.stringify(row)}::json)`.execute(db),
  );

/** The number, and what is known of its person, in every place where it can be. */
export async function seedPerson(database: Database, workspace_id: string) {
  const insert = (table: string, row: Record<string, unknown>) => insertRow(database, table, row);
  const at = new Date();
  const about = { said: `Ada, ${NUMBER}` };
  const ended = { status: 'completed', outcome: 'answered', ended_at: at, answered_at: at } as const;
  const campaign = await seedRow(database, 'campaigns', {
    workspace_id,
    ...{ name: `Call ${NUMBER}`, status: 'completed', contacts_added: true, ended_at: at, done: 1, total_contacts: 1 },
  });
  const contact = await seedRow(database, 'campaign_contacts', {
    ...{ workspace_id, campaign_id: campaign.id, phone_number: to_number, name: 'Ada', values: ['Ada'], state: 'done' },
  });
  const run = await seedRow(database, 'workflow_runs', {
    ...{ workspace_id, status: 'completed', ended_at: at, context: { phone: NUMBER, first: 'Ada' } },
    ...{ output: { said: 'yes' }, concurrency_key: null },
  });
  const call = await seedRow(database, 'calls', {
    ...{ workspace_id, to_number, campaign_id: campaign.id, owner_kind: 'contact', owner_id: contact.id, ...ended },
    ...{
      variables: { name: 'Ada' },
      metadata: about,
      external_id: 'ada',
      tags: [NUMBER],
      sip_reason: `${DIGITS} is busy`,
      agent_end: { reason: 'crashed', text: `Ada of ${DIGITS}`, soundLeftOutMs: 0, framesMissed: 7 },
    },
    result: { converted: true, summary: 'Ada is ill.', recordedAt: at.toISOString() },
  });
  const inbound = { direction: 'inbound', from_number: to_number, to_number: 14155550100 } as const;
  await seedRow(database, 'calls', { workspace_id, ...inbound, ...ended });
  const other = await seedRow(database, 'calls', {
    ...{ workspace_id, to_number: 14155550143, variables: { friend: '+1 (415) 555-0142', name: 'Bob' }, ...ended },
  });
  await seedRow(database, 'test_calls', { workspace_id, room_id: call.id, to_number });
  await insert('call_transcripts', { workspace_id, room_id: call.id, turns: [{ text: 'I am Ada.' }] });
  await insert('call_transcripts', { workspace_id, room_id: other.id, turns: [{ text: `Call ${DIGITS}` }] });
  const sip = { server_id: newUuid(), begun_at: at, ended_at: at, attempt: 1 };
  await insert('sip_calls', { room_id: call.id, workspace_id, ...sip, messages: [{ text: `INVITE sip:${DIGITS}@x` }] });
  const limits = { ring_timeout_seconds: 1, max_call_seconds: 1, placements: 1 };
  await insert('simulator_calls', {
    room_id: call.id,
    to_number: NUMBER,
    attempt: 1,
    placed_at: at,
    ended_at: at,
    ...limits,
  });
  await seedRow(database, 'workflow_run_steps', {
    ...{ workspace_id, run_id: run.id, step: 1, error: { code: 'x', message: `No ${NUMBER}` } },
  });
  const data = { toNumber: NUMBER, variables: { name: 'Ada' }, roomId: toId('room', call.id) };
  const event = { workspace_id, id: newUuid(), type: 'call.ended', data, created_at: at };
  await insert('events', { resource_id: call.id, revision: 3, ...event });
  const endpoint = await seedRow(database, 'webhooks', { workspace_id, status: 'disabled', event_types: [] } as never);
  const delivery = {
    workspace_id,
    webhook_id: endpoint.id,
    status: 'delivered',
    payload: JSON.stringify({ data }),
  } as const;
  await seedRow(database, 'webhook_deliveries', delivery);
  await insert('batches', { workspace_id, id: newUuid(), rejected: [{ phoneNumber: NUMBER }], rejected_count: 1 });
  const audited = { action: 'do_not_call.added', resource_type: 'do_not_call', resource_id: NUMBER };
  const key = { id: newUuid(), key_id: newUuid(), address: '::1', request_id: 'r', created_at: at };
  await insert('audit_log', { workspace_id, ...audited, ...key });
  return { campaign, run, call, other };
}

import pg from 'pg';
import { asSuperuser } from '../postgres.ts';

/** What the rows of a filled database belong to, each by its UUID. */
export interface Owners {
  workspaceId: string;
  webhookId: string;
  workflowId: string;
  phoneNumberId: string;
  campaignId: string;
  listId: string;
  uploadId: string;
}

/** Rows of each table that are past every retention; the rest is of the last six days. */
export const OLD_ROWS = 4000;
/** The first number that is in the tables; one more for each row. */
export const FIRST_NUMBER = 14_152_000_000;

/** The tables that grow with what is done, and what a row of each is: `i` counts, `at` is its time, `id(kind)` an ID of that time. */
const tables: Record<string, (owners: Owners) => string> = {
  calls: ({ workspaceId, phoneNumberId }) => `
    (workspace_id, id, status, outcome, direction, simulated, from_number, to_number, agent_id, phone_number_id,
      campaign_id, owner_kind, owner_id, attempt, server_id, start_at, place_before, ring_timeout_seconds, max_call_seconds,
      queued_at, dialed_at, ringing_at, answered_at, ended_at, ended_by, variables)
    select '${workspaceId}', bench.id(1, i, at), 'completed', 'answered', 'outbound', true, 12125550100,
      ${FIRST_NUMBER} + i, 'agent', '${phoneNumberId}', bench.id(2, i / 100000, 'epoch'), 'contact', bench.id(3, i, at), 1,
      bench.id(4, 0, 'epoch'), at, at, 30, 600, at, at, at, at, at + interval '1 minute', 'callee', '{"city": "Berlin"}'`,
  campaign_contacts: ({ workspaceId, campaignId, listId }) => `
    (workspace_id, campaign_id, id, list_id, phone_number, name, "values", lane, state, attempt, tries, next_attempt_at)
    select '${workspaceId}', '${campaignId}', bench.id(5, i, at), '${listId}', ${FIRST_NUMBER} + i, 'Ada',
      array['Berlin'], 1, case when i % 2 = 0 then 'done' else 'pending' end, (i + 1) % 2, (i + 1) % 2, 'epoch'`,
  contact_list_entries_all: ({ workspaceId, uploadId }) => `
    (workspace_id, upload_id, phone_number, row_number, name, "values")
    select '${workspaceId}', '${uploadId}', ${FIRST_NUMBER} + i, i + 1, 'Ada', array['Berlin']`,
  do_not_call: ({ workspaceId }) => `
    (workspace_id, phone_number, created_at) select '${workspaceId}', ${2 * FIRST_NUMBER} + i, at`,
  workflow_runs: ({ workspaceId, workflowId }) => `
    (workspace_id, id, workflow_id, version, workflow_name, status, concurrency_key, node_id, step, context, ended_at,
      created_at, updated_at)
    select '${workspaceId}', bench.id(6, i, at), '${workflowId}', 1, 'Call back', 'completed', 'key-' || i, 'done', 2,
      '{"name": "Ada", "city": "Berlin"}', at, at, at`,
  workflow_run_steps: ({ workspaceId }) => `
    (workspace_id, run_id, step, node_id, status, next_node_id, started_at, ended_at)
    select '${workspaceId}', bench.id(6, i, at), 1, 'ring', 'completed', 'done', at, at`,
  concurrency_keys: ({ workspaceId }) => `
    (workspace_id, key, cooldown_minutes, last_ended_at) select '${workspaceId}', 'key-' || i, 0, at`,
  idempotency_keys: ({ workspaceId }) => `
    (workspace_id, operation, key, fingerprint, resource_id, created_at)
    select '${workspaceId}', 'startWorkflowRun', 'key-' || i, '\\x00', bench.id(6, i, at),
      case when i <= ${OLD_ROWS} then at else $1::timestamptz end`,
  events: ({ workspaceId }) => `
    (workspace_id, resource_id, revision, id, type, data, created_at)
    select '${workspaceId}', bench.id(1, i, at), 3, bench.id(7, i, at), 'call.ended',
      jsonb_build_object('roomId', i, 'status', 'completed', 'outcome', 'answered', 'toNumber', '+14155550142'), at`,
  webhook_deliveries: ({ workspaceId, webhookId }) => `
    (workspace_id, webhook_id, id, event_id, event_type, order_key, order_number, payload, status, attempts,
      last_status_code, last_duration_ms, delivered_at, created_at)
    select '${workspaceId}', '${webhookId}', bench.id(8, i, at), bench.id(7, i, at), 'call.ended', bench.id(1, i, at), 3,
      repeat('0123456789', 30), 'delivered', 1, 204, 3, at, at`,
  audit_log: ({ workspaceId }) => `
    (workspace_id, id, key_id, action, resource_type, resource_id, address, request_id, created_at)
    select '${workspaceId}', bench.id(9, i, at), (select id from api_keys limit 1), 'contact_list.created',
      'contact_list', 'list_' || i, '127.0.0.1', 'req-' || i, at`,
  simulator_calls: () => `
    (room_id, to_number, attempt, placed_at, ring_timeout_seconds, max_call_seconds, ended_at, ended_by, outcome)
    select bench.id(1, i, at), '+' || (${FIRST_NUMBER} + i), 1, at, 30, 600, at, 'callee', 'answered'`,
};

/** Above a million rows these alone go on growing, or the filling would take an hour: the others have a tenth of them. */
const LARGEST = ['calls', 'campaign_contacts', 'contact_list_entries_all'];
const MILLION = 1_000_000;

/** What stands in the database before the filling; IDs are UUIDv7 of their time, so that they rise as real ones do. */
const SETTING = [
  'create schema bench',
  'create extension pg_stat_statements schema bench',
  'create extension pageinspect schema bench',
  `create function bench.id(kind int, i bigint, at timestamptz) returns uuid stable language sql return
    (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(kind), 3, '0') || '8'
      || lpad(to_hex(i), 15, '0'))::uuid`,
];

/** Fills the tables with so many rows, and takes statistics. @returns the bytes of a row of each, with its indexes */
export async function fill(connectionString: string, owners: Owners, most: number): Promise<Map<string, number>> {
  await asSuperuser(connectionString, ...SETTING);
  const client = new pg.Client(connectionString.replace('//trunkline@', '//postgres@'));
  await client.connect();
  const bytes = new Map<string, number>();
  try {
    for (const [table, row] of Object.entries(tables)) {
      const from = performance.now();
      const rows = LARGEST.includes(table) ? most : Math.min(most, Math.max(MILLION, most / 10));
      await client.query('begin');
      // What is written into a table that is empty as of this transaction needs no write-ahead log.
      await client.query(`truncate ${table} cascade`);
      await client.query(
        `insert into ${table} ${row(owners)}
          from (select i, case when i <= ${OLD_ROWS} then now - interval '100 days' + i * interval '1 ms'
              else now - interval '6 days' + interval '5 days' * i / ${rows} end as at
            from generate_series(1, ${rows}::bigint) as i, (values ($1::timestamptz)) as n (now)) as made`,
        [new Date()],
      );
      await client.query('commit');
      await client.query(`vacuum (analyze) ${table}`);
      const { rows: sizes } = await client.query('select pg_total_relation_size($1)::float8 as bytes', [table]);
      bytes.set(table, sizes[0].bytes / rows);
      console.error(
        `  ${rows} ${table}: ${Math.round((performance.now() - from) / 1000)} s, ${Math.round(sizes[0].bytes / 1e6)} MB`,
      );
    }
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
  return bytes;
}

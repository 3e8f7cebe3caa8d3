import { type RawBuilder, sql } from 'kysely';
import { ERASED_NUMBER } from './number-in-text.ts';

/** How a column holds text. */
type Kind = 'text' | 'text[]' | 'json' | 'jsonb';

/** A table in whose text a number may stand. */
export interface Store {
  table: string;
  /** What names a row within its workspace, in the order of an index, with the types. */
  key: Record<string, 'uuid' | 'bigint' | 'integer' | 'text'>;
  columns: Record<string, Kind>;
  /** Columns that hold a person's number. */
  numbers?: readonly string[];
  /** SQL for whether a row is about the person themselves, where that is more than that one of `numbers` is theirs. */
  isPerson?: (number: RawBuilder<unknown>) => RawBuilder<boolean>;
  /** SQL that takes out of such a row what it says of them; what is counted stays. */
  emptied?: RawBuilder<unknown>;
  /** Whether every row in which the number stands is about the person. */
  isPersons?: true;
}

const erased = sql.lit(ERASED_NUMBER);
const id = { id: 'uuid' } as const;

const run: Store = {
  table: 'workflow_runs',
  key: id,
  columns: { context: 'jsonb', output: 'jsonb', error: 'jsonb', concurrency_key: 'text' },
  isPerson: (number) => sql`exists (select from calls c where c.workspace_id = workflow_runs.workspace_id
    and c.owner_id = workflow_runs.id and c.to_number = ${number})`,
  emptied: sql`context = '{}', output = null, error = null, is_erased = true`,
  isPersons: true,
};

const call: Store = {
  table: 'calls',
  key: id,
  columns: {
    ...{ variables: 'jsonb', metadata: 'jsonb', result: 'jsonb', sip_reason: 'text', external_id: 'text' },
    ...{ tags: 'text[]', agent_end: 'jsonb', answered_by_evidence: 'jsonb' },
  },
  numbers: ['to_number', 'from_number'],
  isPerson: (number) => sql`${number} = case when direction = 'outbound' then to_number else from_number end`,
  emptied: sql`to_number = case when direction = 'outbound' then ${erased} else to_number end,
    from_number = case when direction = 'inbound' then ${erased} else from_number end,
    variables = null, metadata = '{}', external_id = null, sip_reason = null,
    agent_end = agent_end - 'text',
    result = result - '{summary,data,disposition}'::text[]`,
};

/** Of what is kept beside a call: whether that is with the person. */
const ofCall = (table: string) => (number: RawBuilder<unknown>) =>
  sql<boolean>`
  exists (select from calls c where c.workspace_id = ${sql.ref(`${table}.workspace_id`)}
    and c.id = ${sql.ref(`${table}.room_id`)}
    and ${number} = case when c.direction = 'outbound' then c.to_number else c.from_number end)`;

/** Of what is told of a run: whether the run was erased, though its number may stand nowhere in it, and this not yet. */
const ofErasedRun = (table: string, type: RawBuilder<unknown>, data: RawBuilder<unknown>) =>
  sql<boolean>`
  case when ${type} like 'workflow\_run.%' then ${data} -> 'context' <> '{}' and exists (
    select from workflow_runs r where r.workspace_id = ${sql.ref(`${table}.workspace_id`)} and r.is_erased
      and r.id = replace(${data} ->> 'id', 'run_', '')::uuid) else false end`;

const ofRoom = { room_id: 'uuid' } as const;

/**
 * Every table that is looked through, in this order: runs before their calls, and what others write into last. The migration
 * that makes another one adds its name to `installation.erasure_steps`, so that servers without it complete no erasure.
 */
export const stores: readonly Store[] = [
  run,
  { table: 'workflow_run_steps', key: { run_id: 'uuid', step: 'integer' }, columns: { error: 'jsonb', note: 'text' } },
  { table: 'run_signals', key: { run_id: 'uuid', source: 'uuid' }, columns: { data: 'jsonb' } },
  {
    table: 'call_intents',
    key: id,
    columns: { variables: 'jsonb', metadata: 'jsonb', external_id: 'text', tags: 'text[]', voicemail_terms: 'jsonb' },
    numbers: ['to_number'],
  },
  call,
  { table: 'call_transcripts', key: ofRoom, columns: { turns: 'jsonb' }, isPerson: ofCall('call_transcripts') },
  {
    table: 'sip_calls',
    key: ofRoom,
    columns: { dialog: 'json', messages: 'json', sip_reason: 'text', agent_end: 'jsonb' },
    isPerson: ofCall('sip_calls'),
  },
  {
    table: 'call_transfers',
    key: id,
    columns: { reason: 'text' },
    numbers: ['to_number'],
    emptied: sql`to_number = ${erased}`,
  },
  {
    table: 'test_calls',
    key: ofRoom,
    columns: { media: 'json' },
    numbers: ['to_number'],
    emptied: sql`to_number = ${erased}`,
  },
  {
    table: 'campaign_contacts',
    key: { campaign_id: 'uuid', id: 'uuid' },
    columns: { name: 'text', values: 'text[]', external_id: 'text', metadata: 'jsonb', reason: 'text' },
    numbers: ['phone_number'],
  },
  {
    table: 'rejected_rows',
    key: { upload_id: 'uuid', row_number: 'integer' },
    columns: { cells: 'text[]', errors: 'jsonb' },
    numbers: ['phone_number'],
    emptied: sql`cells = '{}', errors = '[]', phone_number = null`,
    isPersons: true,
  },
  {
    table: 'contact_list_entries',
    key: { upload_id: 'uuid', phone_number: 'bigint' },
    columns: { name: 'text', values: 'text[]', consent: 'jsonb' },
    numbers: ['phone_number'],
  },
  { table: 'batches', key: id, columns: { rejected: 'json' } },
  {
    table: 'campaigns',
    key: id,
    columns: {
      name: 'text',
      description: 'text',
      metadata: 'jsonb',
      tags: 'text[]',
      agent_name: 'text',
      voicemail_terms: 'jsonb',
    },
  },
  { table: 'contact_lists', key: id, columns: { name: 'text', columns: 'text[]' } },
  {
    table: 'contact_list_uploads',
    key: id,
    columns: {
      ...{
        file_name: 'text',
        failure_message: 'text',
        phone_column: 'text',
        format: 'jsonb',
        read_as: 'jsonb',
        columns: 'jsonb',
      },
      ...{ do_not_call_columns: 'text[]', header: 'text[]' },
    },
  },
  {
    table: 'do_not_call',
    key: { phone_number: 'bigint' },
    columns: { reason: 'text' },
    numbers: ['phone_number'],
  },
  { table: 'exports', key: id, columns: { filter: 'jsonb' } },
  { table: 'audit_log', key: id, columns: { resource_id: 'text', request_id: 'text' } },
  {
    table: 'events',
    key: { resource_id: 'uuid', revision: 'bigint' },
    columns: { data: 'jsonb' },
    isPerson: () => ofErasedRun('events', sql`events.type`, sql`events.data`),
  },
  {
    table: 'webhook_deliveries',
    key: { webhook_id: 'uuid', id: 'uuid' },
    columns: { payload: 'json', last_error: 'text' },
    isPerson: () => ofErasedRun('webhook_deliveries', sql`event_type`, sql`(payload::json -> 'data')::jsonb`),
  },
];

/** Keys that clients have made, perhaps of a number. An erasure waits until they go (`records/erasures/erase-keys.ts`). */
export const keyStores: readonly Store[] = [
  { table: 'idempotency_keys', key: { operation: 'text', key: 'text' }, columns: { key: 'text' } },
  { table: 'concurrency_keys', key: { key: 'text' }, columns: { key: 'text' } },
];

/** Of their columns that hold JSON, those that are text to the database. */
export const isTextToDatabase = (store: Store, column: string): boolean =>
  store.table === 'webhook_deliveries' && column === 'payload';

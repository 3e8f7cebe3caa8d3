import { type Kysely, type Selectable, sql } from 'kysely';
import type { Database } from '../../src/foundation/database/database.ts';
import type { Schema } from '../../src/foundation/database/schema.ts';
import { newUuid } from '../../src/foundation/values/ids.ts';

/** Rows in one statement: their JSON is a parameter. */
export const ROWS_AT_ONCE = 50_000;

const stamps = (now = new Date()) => ({ created_at: now, updated_at: now });

/** What a call and a campaign say of how long it may take. */
const limits = { ring_timeout_seconds: 30, max_call_seconds: 3600 };

let numbers = 0;
/** From +12123000001 on: no number is there twice, nor is one of those that tests name. */
function nextNumber(): string {
  numbers += 1;
  return `+1${2_123_000_000 + numbers}`;
}

/** What a row of each table is where a test says nothing: a new column that must be there is added here alone. */
const usual = {
  workspaces: () => ({ id: newUuid(), name: 'Test', ...stamps() }),
  phone_numbers: () => ({
    id: newUuid(),
    phone_number: nextNumber(),
    country: 'US',
    status: 'active',
    provider: 'simulator',
    ...stamps(),
  }),
  trunks: () => {
    const id = newUuid();
    const state = { status: 'active', reason: null, status_since: new Date() } as const;
    const pace = { calls_per_second: 1000, next_start_at: new Date(0) };
    return { id, termination_url: `${id}.example.com`, transport: 'auto', ...pace, ...state, ...stamps() };
  },
  call_dtmf: () => ({ id: newUuid(), status: 'sent', requested_at: new Date(), ended_at: new Date() }),
  call_transfers: () => {
    const [requested_at, settled_at] = [new Date(), new Date()];
    const status = { status: 'failed', reason: 'busy', requested_at, settled_at } as const;
    return { id: newUuid(), to_number: 14155550199, timeout_seconds: 30, ...status };
  },
  trunk_health: () => ({}),
  agent_health: () => ({}),
  agents: () => ({
    id: newUuid(),
    name: 'Agent',
    connection_url: 'wss://agents.example.com/',
    header_names: [],
    connect_at: 'answered',
    connect_timeout_seconds: 2,
    reconnect: false,
    recording: false,
    secret: 'encrypted',
    ...stamps(),
  }),
  number_pools: () => ({ id: newUuid(), name: 'Pool', ...stamps() }),
  number_usage: () => ({ country: 'US' }),
  contact_lists: () => ({ id: newUuid(), name: 'People', type: 'contacts', status: 'ready', ...stamps() }),
  contact_list_uploads: () => {
    const id = newUuid();
    const times = { url_expires_at: new Date(), processed_at: new Date(), ...stamps() };
    return { id, storage_key: id, file_name: 'people.csv', status: 'processed', ...times };
  },
  contact_list_entries: () => ({ row_number: 2, values: [] }),
  do_not_call: () => ({ created_at: new Date() }),
  campaigns: () => ({
    id: newUuid(),
    name: 'Campaign',
    agent_id: 'agent',
    direction: 'outbound',
    status: 'running',
    timezone: 'UTC',
    schedule_days: [1, 2, 3, 4, 5, 6, 7],
    max_concurrency: 50,
    retry_policy: [],
    started_at: new Date(),
    ...limits,
    ...stamps(),
  }),
  campaign_lists: () => ({ role: 'contacts' }),
  campaign_contacts: () => ({
    id: newUuid(),
    list_id: newUuid(),
    values: [],
    lane: 1,
    state: 'pending',
    next_attempt_at: new Date(0),
  }),
  calls: () => ({
    id: newUuid(),
    status: 'dialing',
    direction: 'outbound',
    simulated: true,
    from_number: 14155550100,
    agent_id: 'agent',
    phone_number_id: newUuid(),
    owner_kind: 'intent',
    owner_id: newUuid(),
    attempt: 1,
    start_at: new Date(),
    place_before: new Date(),
    queued_at: new Date(),
    ...limits,
  }),
  call_intents: () => ({
    id: newUuid(),
    agent_id: 'agent',
    from_number: 14155550100,
    simulated: true,
    variables: {},
    metadata: {},
    expires_at: new Date(Date.now() + 3_600_000),
    timezone: 'UTC',
    callee_time_zone: 'strictest',
    created_at: new Date(),
    ...limits,
  }),
  test_calls: () => ({
    phone_number_id: newUuid(),
    from_number: 14155550100,
    to_number: 14155550101,
    simulated: true,
    requested_at: new Date(),
  }),
  workflows: () => ({ id: newUuid(), name: 'Test', ...stamps() }),
  workflow_versions: () => ({ version: 1, created_at: new Date() }),
  workflow_runs: () => ({
    id: newUuid(),
    workflow_id: newUuid(),
    version: 1,
    workflow_name: 'Test',
    status: 'queued',
    node_id: 'first',
    context: {},
    ...stamps(),
  }),
  workflow_run_steps: () => ({ node_id: 'first', status: 'completed', started_at: new Date() }),
  run_signals: () => ({ data: { kind: 'call_returned' }, created_at: new Date() }),
  concurrency_keys: () => ({ cooldown_minutes: 0 }),
  webhooks: () => ({
    id: newUuid(),
    url: 'https://crm.example.com/',
    status: 'enabled',
    secret: 'encrypted',
    ...stamps(),
  }),
  webhook_deliveries: () => ({
    id: newUuid(),
    event_id: newUuid(),
    event_type: 'call.ended',
    order_key: newUuid(),
    order_number: 1,
    payload: '{}',
    status: 'pending',
    created_at: new Date(),
  }),
  workspace_usage: () => ({ day: new Date().toISOString().slice(0, 10) }),
  servers: () => ({ id: newUuid(), lease_until: new Date(Date.now() + 3_600_000) }),
} satisfies { [Table in keyof Schema]?: () => Partial<Selectable<Schema[Table]>> };

/** A table that tests write to. */
type Seeded = keyof typeof usual;

/** The columns that a test cares for. */
export type Given<Table extends Seeded> = Partial<Selectable<Schema[Table]>>;

type Whole<Table extends Seeded> = ReturnType<(typeof usual)[Table]> & Given<Table>;

/** Writes rows straight into a table, inside a transaction of the test's. Columns that are not given are the usual. */
export async function insertRows<Table extends Seeded>(
  db: Kysely<Schema>,
  table: Table,
  given: Given<Table>[],
): Promise<Whole<Table>[]> {
  const rows = given.map((each) => ({ ...usual[table](), ...each }) as Whole<Table>);
  // Rows that say the same columns go together: a column that is named and not given would be null, not its default.
  const kindOf = (row: object) => Object.keys(row).toSorted().join();
  for (const kind of new Set(rows.map(kindOf))) {
    const alike = rows.filter((row) => kindOf(row) === kind);
    const columns = sql.join(Object.keys(alike[0]!).map((name) => sql.ref(name)));
    for (let from = 0; from < alike.length; from += ROWS_AT_ONCE) {
      const part = JSON.stringify(alike.slice(from, from + ROWS_AT_ONCE));
      await sql`insert into ${sql.table(table)} (${columns})
        select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${part}::json)`.execute(db);
    }
  }
  return rows;
}

/** Such rows in a transaction of their own. */
export const seedRows = <Table extends Seeded>(
  database: Pick<Database, 'inEngine'>,
  table: Table,
  given: Given<Table>[],
): Promise<Whole<Table>[]> => database.inEngine(({ db }) => insertRows(db, table, given));

/** One such row. Answers it as far as it was written. */
export const seedRow = async <Table extends Seeded>(
  database: Pick<Database, 'inEngine'>,
  table: Table,
  given: Given<Table> = {},
): Promise<Whole<Table>> => (await seedRows(database, table, [given]))[0]!;

import { type Kysely, sql } from 'kysely';
import { audience } from './initial/audience.ts';
import { calls } from './initial/calls.ts';
import { campaigns } from './initial/campaigns.ts';
import { events } from './initial/events.ts';
import { lines } from './initial/lines.ts';
import { platform } from './initial/platform.ts';
import { records } from './initial/records.ts';
import { voices } from './initial/voices.ts';
import { workflows } from './initial/workflows.ts';
import { tenancy } from './tenancy.ts';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** In this order, since tables name others. */
const tables = [platform, events, lines, voices, audience, campaigns, calls, workflows, records];

/** Tables that hold a workspace's data: each is walled off by row-level security (architecture.md, "Tenancy"). */
const tenantTables = [
  'agent_knowledge_bases',
  'agent_limits',
  'agents',
  'api_keys',
  'audit_log',
  'batches',
  'call_intents',
  'call_recordings',
  'call_transcripts',
  'calls',
  'campaign_contacts',
  'campaign_lanes',
  'campaign_lists',
  'campaigns',
  'concurrency_keys',
  'contact_list_entries',
  'contact_list_uploads',
  'contact_lists',
  'do_not_call',
  'do_not_call_erased',
  'erasures',
  'events',
  'events_to_hand_over',
  'exports',
  'idempotency_keys',
  'knowledge_base_documents',
  'knowledge_base_erasures',
  'knowledge_base_passages',
  'knowledge_bases',
  'number_pools',
  'number_usage',
  'phone_numbers',
  'run_signals',
  'sip_calls',
  'test_calls',
  'trunk_health',
  'trunk_registrations',
  'trunks',
  'webhook_deliveries',
  'webhooks',
  'workflow_run_steps',
  'workflow_runs',
  'workflow_versions',
  'workflows',
  'workspace_usage',
];

// What the simulated provider keeps belongs to no workspace, so none sees it: a room is a call of some workspace.
const simulatorWall = (table: string) => `
alter table ${table} enable row level security;
alter table ${table} force row level security;
create policy engine on ${table} using ((select current_setting('trunkline.engine', true)) = 'on');
`;

const otherWalls = `
alter table workspaces enable row level security;
alter table workspaces force row level security;
create policy tenant on workspaces using (
  id = (select nullif(current_setting('trunkline.workspace', true), '')::uuid)
  or (select current_setting('trunkline.engine', true)) = 'on'
);
${['simulator_calls', 'simulator_numbers'].map(simulatorWall).join('')}
-- Under row-level security only a policy's own condition finds the index on words: "@@" is not leakproof. So the words
-- that are searched are a setting of the transaction. Without it all passages are seen: none has the word "=".
create policy searched on knowledge_base_passages as restrictive for select using (
  words @@ coalesce(nullif(current_setting('trunkline.words', true), ''), '!=')::tsquery
);
`;

/** Everything that 0.2.0 begins with. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw([...tables, ...tenantTables.map(tenancy), otherWalls].join('\n')).execute(db);
}

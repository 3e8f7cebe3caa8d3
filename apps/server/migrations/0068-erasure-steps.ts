import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

const steps =
  `'{entries,contacts,waiting calls,workflow_runs,workflow_run_steps,run_signals,call_intents,calls,call_transcripts,
sip_calls,test_calls,campaign_contacts,contact_list_entries,batches,campaigns,contact_lists,contact_list_uploads,do_not_call,
exports,audit_log,events,webhook_deliveries,files,keys}'::text[]`.replaceAll('\n', '');

const changes = `
-- The step that an erasure is at, by its name, and those that it has passed: servers of another version may have others.
alter table erasures add column passed text[] not null default '{}';
update erasures set passed = (${steps})[:step] where status = 'running';
alter table erasures alter column step drop default, alter column step type text using (${steps})[step + 1],
  alter column step set default 'entries';
-- Those that servers of any version have. One that has not passed all of them is not completed.
alter table installation add column erasure_steps text[] not null default ${steps};
`;

/** Lets servers of several versions erase, each what it knows of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The policies would hide the rows of all workspaces from an update.
  await sql`select set_config('trunkline.engine', 'on', true)`.execute(db);
  await sql.raw(changes).execute(db);
}

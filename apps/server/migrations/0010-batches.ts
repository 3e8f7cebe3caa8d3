import { type Kysely, sql } from 'kysely';

const changes = `
-- A batch is a campaign that one request has made with its contacts. A batch without a name has ''.
alter table campaigns add column kind text not null default 'campaign' check (kind in ('campaign', 'batch')),
  add column metadata jsonb;
create index campaigns_kind on campaigns (workspace_id, kind, created_at, id);

alter table campaign_contacts add column external_id text, add column metadata jsonb;

-- What a batch has beside its campaign, whose ID it bears. "rejected" is text as it was answered.
create table batches (
  workspace_id uuid not null,
  id uuid not null,
  rejected json not null,
  rejected_count integer not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, id) references campaigns
);
alter table batches enable row level security;
alter table batches force row level security;
create policy tenant on batches using (
  workspace_id = (select nullif(current_setting('trunkline.workspace', true), '')::uuid)
  or (select current_setting('trunkline.engine', true)) = 'on'
);
`;

/** Batches, and what their calls carry. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}

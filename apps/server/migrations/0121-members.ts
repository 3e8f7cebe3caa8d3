import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** People, who sign in by an identity provider: sessions and entries of the audit log may be theirs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table members (
      workspace_id uuid not null references workspaces,
      id uuid not null,
      email text not null,
      role text not null check (role in ('viewer', 'manager', 'developer', 'admin')),
      signed_in_at timestamptz,
      removed_at timestamptz,
      edition bigint not null default 1,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (workspace_id, id)
    )`.execute(db);
  await sql`create unique index members_email on members (workspace_id, email) where removed_at is null`.execute(db);
  await sql`create index members_of_email on members (email) where removed_at is null`.execute(db);
  await sql`create index members_created_at on members (workspace_id, created_at, id)`.execute(db);
  await sql`create index members_removed_at on members (removed_at) where removed_at is not null`.execute(db);
  await sql.raw(tenancy('members')).execute(db);
  await sql`
    alter table sessions
      alter column api_key_id drop not null,
      add column member_id uuid,
      add foreign key (workspace_id, member_id) references members,
      add check (num_nonnulls(api_key_id, member_id) = 1)`.execute(db);
  await sql`
    create index sessions_member on sessions (workspace_id, member_id, created_at)
    where member_id is not null`.execute(db);
  await sql`alter table audit_log add column member_id uuid`.execute(db);
  await sql`
    create index audit_log_member on audit_log (workspace_id, member_id, created_at, id)
    where member_id is not null`.execute(db);
}

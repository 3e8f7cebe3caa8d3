import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** The accounts of workspaces with providers of numbers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table provider_accounts (
      workspace_id uuid not null references workspaces,
      provider text not null check (provider in ('twilio', 'telnyx')),
      id uuid not null,
      account_id text,
      key_id text,
      secret text not null,
      address_id text,
      bundle_id text,
      checked_at timestamptz not null,
      rejected_at timestamptz,
      edition bigint not null default 1,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (workspace_id, provider)
    )`.execute(db);
  await sql.raw(tenancy('provider_accounts')).execute(db);
}

import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { AccountRow } from './account.ts';

/** The workspace's accounts. */
export const listAccounts = ({ db, workspaceId }: WorkspaceTx): Promise<AccountRow[]> =>
  db.selectFrom('provider_accounts').selectAll().where('workspace_id', '=', workspaceId).execute();

/**
 * The workspace's account with a provider.
 * @param lock `share` keeps it from being changed, so that a purchase with it is counted by who would delete it
 */
export async function findAccount(
  { db, workspaceId }: WorkspaceTx,
  provider: string,
  lock?: 'share' | 'update',
): Promise<AccountRow | undefined> {
  const { rows } = await sql<AccountRow>`
    select * from provider_accounts where workspace_id = ${workspaceId} and provider = ${provider}
    ${lock ? sql.raw(`for ${lock}`) : sql``}`.execute(db);
  return rows[0];
}

/** Throws `provider_in_use` if numbers that were bought with the account are in the workspace. */
export async function refuseIfUsed({ db, workspaceId }: WorkspaceTx, provider: string): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from phone_numbers where workspace_id = ${workspaceId} and provider = ${provider}
      and (status in ('provisioning', 'active', 'suspended') or due_at is not null)`.execute(db);
  const { count } = rows[0]!;
  if (count === 0) return;
  const numbers = count === 1 ? '1 number' : `${count} numbers`;
  const message = `The workspace has ${numbers} of its account with ${provider}. Release ${count === 1 ? 'it' : 'them'} first.`;
  throw new ServiceError('provider_in_use', message);
}

/** Forgets that the workspace's trunk was made in its account, since another may come: it is made there with the next number. */
export const forgetMadeTrunk = ({ db, workspaceId }: WorkspaceTx, provider: string) =>
  sql`
    update trunks set managed_id = null, made_at = null, making_until = null
    where workspace_id = ${workspaceId} and managed_by = ${provider}`.execute(db);

import type { Row } from '../../foundation/database/schema.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import type { ProviderAccount } from '../telephony/number-market.ts';

/** An account as the database keeps it. */
export type AccountRow = Row<'provider_accounts'>;
export type Provider = components['schemas']['Provider'];

/** What an account's secret is bound to. Both are UUIDs. */
export const accountSecretPlace = (workspaceId: string, id: string) => `provider_accounts.secret ${workspaceId} ${id}`;

/** An account as adapters take it; undefined where its secret can't be decrypted. */
export function openedAccount(row: AccountRow, secrets: Secrets): ProviderAccount | undefined {
  try {
    const secret = secrets.decrypt(row.secret, accountSecretPlace(row.workspace_id, row.id));
    return { workspaceId: row.workspace_id, secret, ...fieldsOf(row) };
  } catch {
    return undefined;
  }
}

/** A provider as clients see it, with the workspace's account if it has one. The secret stays behind. */
export function shapeProvider(
  provider: Provider['provider'],
  needsAccount: boolean,
  row: AccountRow | undefined,
  secrets: Secrets,
): Provider {
  if (!needsAccount) return { provider, status: 'ready', needsAccount };
  if (!row) return { provider, status: 'no_account', needsAccount };
  const status = row.rejected_at ? 'credentials_rejected' : openedAccount(row, secrets) ? 'ready' : 'unreadable';
  return { provider, status, needsAccount, ...fieldsOf(row), checkedAt: row.checked_at.toISOString() };
}

const fieldsOf = ({ account_id, key_id, address_id, bundle_id }: AccountRow) => ({
  ...(account_id !== null && { accountId: account_id }),
  ...(key_id !== null && { keyId: key_id }),
  ...(address_id !== null && { addressId: address_id }),
  ...(bundle_id !== null && { bundleId: bundle_id }),
});

import { sql } from 'kysely';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { notFound, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { type AccountProvider, NumberError, type ProviderAccount } from '../telephony/number-market.ts';
import { type AccountRow, accountSecretPlace, type Provider } from './account.ts';
import type { ProviderDeps } from './deps.ts';
import { findAccount, forgetMadeTrunk, refuseIfUsed } from './store.ts';

type Body = components['schemas']['SaveProviderAccount'];

export interface AccountToSave {
  workspaceId: string;
  provider: Provider['provider'];
  body: Body;
  ifMatch: string | undefined;
  auditOf: AuditOf;
}

/**
 * Keeps the workspace's account with a provider, once that has said that it takes it. Throws `not_found`,
 * `invalid_request`, `provider_in_use`, `changed_meanwhile` and `provider_error`.
 */
export async function saveAccount(deps: ProviderDeps, toSave: AccountToSave): Promise<AccountRow> {
  const { workspaceId, provider: name, body, ifMatch, auditOf } = toSave;
  const provider = accountProvider(deps, name);
  const given = givenFields(body);
  refuse(provider.faults(given).map(({ field, message }) => ({ path: `/body/${field}`, message })));
  await check(provider, name, { ...given, workspaceId });
  return deps.database.inWorkspace(workspaceId, async (tx) => {
    const now = deps.clock.now();
    // Of two who save the first one at once, the second sees it.
    await sql`select from workspaces where id = ${workspaceId} for no key update`.execute(tx.db);
    const before = await findAccount(tx, name, 'update');
    checkEdition(before ?? { edition: 0 }, ifMatch);
    if (before && before.account_id !== (given.accountId ?? null)) {
      await refuseIfUsed(tx, name);
      await forgetMadeTrunk(tx, name);
    }
    const id = before?.id ?? newUuid();
    const columns = {
      account_id: given.accountId ?? null,
      key_id: given.keyId ?? null,
      address_id: given.addressId ?? null,
      bundle_id: given.bundleId ?? null,
      secret: deps.secrets.encrypt(given.secret, accountSecretPlace(workspaceId, id)),
      checked_at: now,
      rejected_at: null,
      updated_at: now,
    };
    const saved = await tx.db
      .insertInto('provider_accounts')
      .values({ workspace_id: workspaceId, provider: name as AccountRow['provider'], id, created_at: now, ...columns })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace_id', 'provider'])
          .doUpdateSet((row) => ({ ...columns, edition: row('provider_accounts.edition', '+', 1) })),
      )
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, auditOf('provider.saved', 'provider', name), now);
    return saved;
  });
}

/** A provider that takes accounts. Throws `not_found`, and `invalid_request` for one that needs none. */
function accountProvider({ accountProviders, markets }: ProviderDeps, name: Provider['provider']): AccountProvider {
  const found = accountProviders.get(name);
  if (found) return found;
  if (!markets.has(name)) throw notFound();
  const message = `Numbers of ${name} are bought without an account.`;
  throw new ServiceError('invalid_request', message, { details: [{ path: '/path/provider', message }] });
}

function givenFields({ accountId, keyId, secret, addressId, bundleId }: Body): Omit<ProviderAccount, 'workspaceId'> {
  return {
    secret,
    ...(accountId && { accountId }),
    ...(keyId && { keyId }),
    ...(addressId && { addressId }),
    ...(bundleId && { bundleId }),
  };
}

async function check(provider: AccountProvider, name: string, account: ProviderAccount): Promise<void> {
  await provider
    .open(account)
    .checkAccount()
    .catch((cause) => {
      if (cause instanceof NumberError && cause.reason === 'credentials')
        refuse([{ path: '/body/secret', message: `is not taken by ${name}, for this account. Nothing was saved.` }]);
      const message = `The provider ${name} could not be asked whether it takes the account, and nothing was saved. Try again later.`;
      throw new ServiceError('provider_error', message, { cause });
    });
}

import type { Handlers } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { notFound } from '../../foundation/values/service-error.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { type AccountRow, type Provider, shapeProvider } from './account.ts';
import { deleteAccount } from './delete-account.ts';
import type { ProviderDeps } from './deps.ts';
import { saveAccount } from './save-account.ts';
import { findAccount, listAccounts } from './store.ts';

/** The operations of the tag "Providers". */
export function providerOperations(deps: ProviderDeps) {
  const { database, accountProviders, markets, secrets } = deps;
  const names = [...markets.keys(), ...accountProviders.keys()] as Provider['provider'][];
  const shaped = (name: Provider['provider'], row: AccountRow | undefined) =>
    shapeProvider(name, accountProviders.has(name), row, secrets);
  return {
    listProviders: async (_request, { workspaceId }) => {
      const accounts = await database.inWorkspace(workspaceId, listAccounts);
      const items = names.map((name) =>
        shaped(
          name,
          accounts.find(({ provider }) => provider === name),
        ),
      );
      return { status: 200, body: { items } };
    },

    getProvider: async ({ path: { provider } }, { workspaceId }) => {
      if (!names.includes(provider)) throw notFound();
      const row = await database.inWorkspace(workspaceId, (tx) => findAccount(tx, provider));
      return tagged({ status: 200 as const, body: shaped(provider, row) }, row ?? { edition: 0 });
    },

    saveProviderAccount: async ({ path: { provider }, body, headers }, context) => {
      const { workspaceId } = context;
      const ifMatch = headers['If-Match'];
      const row = await saveAccount(deps, { workspaceId, provider, body, ifMatch, auditOf: auditOf(context) });
      return tagged({ status: 200 as const, body: shaped(provider, row) }, row);
    },

    deleteProviderAccount: async ({ path: { provider } }, context) => {
      await deleteAccount(deps, context.workspaceId, provider, auditOf(context));
      return { status: 200, body: { id: provider, deleted: true } };
    },
  } satisfies Partial<Handlers>;
}

import { notFound } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import type { Provider } from './account.ts';
import type { ProviderDeps } from './deps.ts';
import { findAccount, forgetMadeTrunk, refuseIfUsed } from './store.ts';

/** Forgets the workspace's account with a provider. Throws `not_found` and `provider_in_use`. */
export async function deleteAccount(
  { database, clock }: ProviderDeps,
  workspaceId: string,
  provider: Provider['provider'],
  auditOf: AuditOf,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    if (!(await findAccount(tx, provider, 'update'))) throw notFound();
    await refuseIfUsed(tx, provider);
    await forgetMadeTrunk(tx, provider);
    await tx.db
      .deleteFrom('provider_accounts')
      .where('workspace_id', '=', workspaceId)
      .where('provider', '=', provider as 'twilio' | 'telnyx')
      .execute();
    await audit(tx, auditOf('provider.deleted', 'provider', provider), clock.now());
  });
}

import { randomBytes } from 'node:crypto';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { type Asked, answerOnce } from '../../foundation/database/kept-answers.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { changeWorkspace } from './store.ts';

/** What a workspace's inbound secret is encrypted for. */
export const inboundSecretPlace = (workspaceId: string): string => `workspaces.inbound_secret ${workspaceId}`;

/** Gives a workspace a new inbound secret; the one before it signs nothing any more. Throws `idempotency_key_reused`. */
export async function rotateInboundSecret(
  { database, clock, secrets }: { database: Database; clock: Clock; secrets: Secrets },
  workspaceId: string,
  auditOf: AuditOf,
  { idempotencyKey, apiKeyId }: Asked,
): Promise<Made<{ secret: string; rotatedAt: string }>> {
  const now = clock.now();
  const asked = { request: {}, resourceId: newUuid(), now, secrets, onlyFor: apiKeyId };
  const named = idempotencyKey ? { operation: 'rotateInboundSecret', key: idempotencyKey, ...asked } : undefined;
  const rotate = async (tx: WorkspaceTx) => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    await changeWorkspace(tx, { inbound_secret: secrets.encrypt(secret, inboundSecretPlace(workspaceId)) }, now);
    await audit(tx, auditOf('workspace.inbound_secret_rotated', 'workspace', toId('ws', workspaceId)), now);
    return { secret, rotatedAt: now.toISOString() };
  };
  return database.inWorkspace(workspaceId, (tx) =>
    answerOnce(
      tx,
      named,
      () => rotate(tx),
      (made) => made,
      async (kept) => kept,
    ),
  );
}

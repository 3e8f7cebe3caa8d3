import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { type Asked, answerOnce } from '../../foundation/database/kept-answers.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import type { KeyDeps } from './create-key.ts';
import type { StreamTokens } from './stream-tokens.ts';

/** Makes a token that opens one stream with the rights of the key that asks. Throws `idempotency_key_reused`. */
export async function createStreamToken(
  { database, clock, secrets, streamTokens }: KeyDeps & { streamTokens: StreamTokens },
  { workspaceId, key }: { workspaceId: string; key: { hash: string } },
  body: components['schemas']['CreateStreamToken'],
  { idempotencyKey, apiKeyId }: Asked,
): Promise<Made<components['schemas']['StreamToken']>> {
  const make = async () => {
    const { token, expiresAt } = streamTokens.make(key.hash, body.path);
    return { token, expiresAt: expiresAt.toISOString() };
  };
  if (!idempotencyKey) return { made: await make(), replayed: false };
  const asked = { request: body, resourceId: newUuid(), now: clock.now(), secrets, onlyFor: apiKeyId };
  const named = { operation: 'createStreamToken', key: idempotencyKey, ...asked };
  return database.inWorkspace(workspaceId, (tx) =>
    answerOnce(
      tx,
      named,
      make,
      (made) => made,
      async (kept) => kept,
    ),
  );
}

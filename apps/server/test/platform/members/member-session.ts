import { fromId, newUuid } from '../../../src/foundation/values/ids.ts';
import { newSessionSecret, SESSION_MS } from '../../../src/platform/api-keys/session.ts';
import { insertSession } from '../../../src/platform/api-keys/session-store.ts';
import type { Role } from '../../../src/platform/members/roles.ts';
import type { TestServer } from '../../server.ts';
import { type Browser, browserWith } from '../api-keys/sessions.ts';

let invited = 0;

/** A browser of a member with this role, as one who has signed in by an identity provider. */
export async function signInMember(server: TestServer, role: Role): Promise<Browser & { memberId: string }> {
  invited += 1;
  const body = { email: `member${invited}@example.com`, role };
  const { id } = (await server.client.POST('/v1/members', { body })).data!.data;
  const workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
  const secret = newSessionSecret();
  const now = server.clock.now();
  await server.database.inWorkspace(workspaceId, async (tx) => {
    const values = { signed_in_at: now };
    await tx.db.updateTable('members').set(values).where('id', '=', fromId(id)).execute();
    const of = { memberId: fromId(id) };
    const expiresAt = new Date(now.getTime() + SESSION_MS);
    await insertSession(tx, { id: newUuid(), secret, of, address: '127.0.0.1', expiresAt, now });
  });
  return { ...browserWith(server, `trunkline=${secret}`), memberId: id };
}

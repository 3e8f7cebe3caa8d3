import type { Database } from '../../../foundation/database/database.ts';
import type { Secrets } from '../../../foundation/database/secrets.ts';
import { sealTicket } from '../../../foundation/tickets/ticket.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import type { components } from '../../../foundation/values/generated/contract.ts';
import { fromId, newUuid } from '../../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../../foundation/values/service-error.ts';
import type { AuditOf } from '../../../platform/journal/audit-of.ts';
import { audit } from '../../../platform/journal/record.ts';
import { LISTEN, type Listening } from './listening.ts';

export interface ListenDeps {
  database: Database;
  clock: Clock;
  secrets: Secrets;
  /** Where clients reach this server, and the others that say nothing else of themselves. */
  publicUrl: string;
  /** Whether this process can be asked for a WebSocket. */
  takesUpgrades: boolean;
}

/** For so long the URL can be opened. */
const OPENS_MS = 60_000;

/**
 * Makes the URL at which a call that is up is listened to, of the server that holds it.
 * @param roomId as clients see it
 * @throws not_found; call_not_active; invalid_state for one that nobody has answered, and for one that is simulated; unavailable
 */
export async function listenToCall(
  { database, clock, secrets, publicUrl, takesUpgrades }: ListenDeps,
  { workspaceId, key }: { workspaceId: string; key: { hash: string } },
  roomId: string,
  auditOf: AuditOf,
): Promise<components['schemas']['CallListening']> {
  if (!takesUpgrades) throw new ServiceError('unavailable', 'Listening needs a server on Node 22.21, 24.9, or newer.');
  const now = clock.now();
  const id = fromId(roomId);
  const url = await database.inWorkspace(workspaceId, async (tx) => {
    const call = await existing(
      tx.db
        .selectFrom('calls as c')
        .leftJoin('servers as s', 's.id', 'c.server_id')
        .select(['c.status', 'c.ended_at', 'c.simulated', 's.url'])
        .where('c.workspace_id', '=', workspaceId)
        .where('c.id', '=', id)
        .executeTakeFirst(),
    );
    if (call.ended_at) throw new ServiceError('call_not_active', 'The call has ended already.');
    if (call.simulated) throw new ServiceError('invalid_state', 'The call is simulated: it has no sound.');
    if (call.status !== 'in_progress')
      throw new ServiceError('invalid_state', 'The call is not answered yet: there is nothing to hear.');
    await audit(tx, auditOf('call.listened_to', 'call', roomId), now);
    return call.url ?? publicUrl;
  });
  const expires = now.getTime() + OPENS_MS;
  const ticket: Listening = { id: newUuid(), workspaceId, roomId: id, keyHash: key.hash, expires };
  const opens = new URL(`/${LISTEN}/${sealTicket(secrets, LISTEN, ticket)}`, url.replace(/^http/, 'ws'));
  return { url: opens.href, expiresAt: new Date(expires).toISOString() };
}

import type { Database } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import { sealTicket } from '../../foundation/tickets/ticket.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId, newUuid } from '../../foundation/values/ids.ts';
import { existing, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import { findAgent } from '../agents/store.ts';
import { TALK, type Talk } from './talk.ts';

export interface TalkDeps {
  database: Database;
  clock: Clock;
  secrets: Secrets;
  /** Where clients reach this server. */
  publicUrl: string;
  /** Whether this process can be asked for a WebSocket. */
  takesTalks: boolean;
}

/** For so long the URL of a talk can be opened. */
const OPENS_MS = 60_000;
/** Variables stand in the URL: more than this is too much for servers in between. */
const MOST_VARIABLES = 4096;

/**
 * Makes the URL of a talk with an agent.
 * @throws not_found; invalid_request for variables that are too long; unavailable on a version of Node that can't take it
 */
export async function startTalk(
  { database, clock, secrets, publicUrl, takesTalks }: TalkDeps,
  workspaceId: string,
  agentId: string,
  { variables = {} }: components['schemas']['TalkToAgent'],
  auditOf: AuditOf,
): Promise<components['schemas']['AgentTalk']> {
  const bytes = Buffer.byteLength(JSON.stringify(variables));
  if (bytes > MOST_VARIABLES)
    refuse([{ path: '/body/variables', message: `must be at most ${MOST_VARIABLES} bytes as JSON; it is ${bytes}` }]);
  if (!takesTalks) throw new ServiceError('unavailable', 'Talks need a server on Node 22.21, 24.9, or newer.');
  const now = clock.now();
  await database.inWorkspace(workspaceId, async (tx) => {
    await existing(findAgent(tx, fromId(agentId)));
    await audit(tx, auditOf('agent.talked_to', 'agent', agentId), now);
  });
  const expires = now.getTime() + OPENS_MS;
  const ticket: Talk = { id: newUuid(), workspaceId, agentId, variables, expires };
  const url = new URL(`/${TALK}/${sealTicket(secrets, TALK, ticket)}`, publicUrl.replace(/^http/, 'ws'));
  return { url: url.href, expiresAt: new Date(expires).toISOString() };
}

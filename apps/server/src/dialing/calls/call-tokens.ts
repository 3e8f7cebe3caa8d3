import { sql } from 'kysely';
import type { Database } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import { canonicalBytes } from '../../foundation/values/canonical-base64.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { AgentDirectory } from '../../voices/agents/directory.ts';

/** For so long after its end a call's token opens what is the call's. */
const OPENS_AFTER_END_MS = 3600_000;
const PREFIX = 'ct_';
const PLACE = 'call token';

/** Whom a call's token stands for: its call, and nobody who has permissions. */
interface CallPrincipal {
  /** The room's UUID: each call has a rate of its own. */
  keyId: string;
  hash: string;
  workspaceId: string;
  permissions: readonly string[];
  callId: string;
}

/**
 * Tokens that an agent sends in the place of a key (agents.md, "What the agent is told of its call"). Nothing is kept of
 * them: what they are for is sealed in them.
 */
export interface CallTokens {
  make(workspaceId: string, roomId: string): string;
  /** Whether this is a token, good or not. */
  isToken(credential: string): boolean;
  /** Whose call it opens; nothing if it is no token of ours, or the call ended more than an hour ago. */
  open(token: string): Promise<CallPrincipal | undefined>;
  /** The knowledge bases that are attached to the agent of a call, as clients see them. Throws `unavailable` if the directory can't be asked. */
  basesOf(workspaceId: string, roomId: string): Promise<readonly string[]>;
}

export function createCallTokens(options: {
  database: Database;
  secrets: Secrets;
  clock: Clock;
  agents: AgentDirectory;
}): CallTokens {
  const { database, secrets, clock, agents } = options;
  return {
    make: (workspaceId, roomId) => {
      const sealed = secrets.encrypt(JSON.stringify({ workspaceId, roomId } satisfies Sealed), PLACE);
      return PREFIX + Buffer.from(sealed).toString('base64url');
    },
    isToken: (credential) => credential.startsWith(PREFIX),
    async open(token) {
      const sealed = read(secrets, token);
      if (!sealed) return undefined;
      const { workspaceId, roomId } = sealed;
      const endedAfter = new Date(clock.now().getTime() - OPENS_AFTER_END_MS);
      const { rows } = await database.inWorkspace(workspaceId, (tx) =>
        sql`select from calls where workspace_id = ${workspaceId} and id = ${roomId}
          and (ended_at is null or ended_at > ${endedAfter})`.execute(tx.db),
      );
      return rows.length === 0 ? undefined : { keyId: roomId, hash: '', workspaceId, permissions: [], callId: roomId };
    },
    async basesOf(workspaceId, roomId) {
      const { rows } = await database.inWorkspace(workspaceId, (tx) =>
        sql<{ agent_id: string | null }>`
          select agent_id from calls where workspace_id = ${workspaceId} and id = ${roomId}`.execute(tx.db),
      );
      const agentId = rows[0]?.agent_id;
      const agent = agentId ? await agents.resolve(agentId, workspaceId) : undefined;
      return agent?.knowledgeBaseIds ?? [];
    },
  };
}

/** What a token says: UUIDs. */
interface Sealed {
  workspaceId: string;
  roomId: string;
}

function read(secrets: Secrets, token: string): Sealed | undefined {
  try {
    return JSON.parse(secrets.decrypt(canonicalBytes(token.slice(PREFIX.length), 'base64url')!.toString(), PLACE));
  } catch {
    return undefined;
  }
}

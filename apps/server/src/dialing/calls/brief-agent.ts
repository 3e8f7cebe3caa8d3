import type { Database } from '../../foundation/database/database.ts';
import { coalesce } from '../../foundation/values/coalesce.ts';
import type { CallKey } from './call.ts';
import type { CallTokens } from './call-tokens.ts';
import { type Call, shapeCall } from './shape-call.ts';
import type { CallStore } from './store.ts';

/** What an agent is told of its call beside the variables (agents.md, "What the agent is told of its call"). */
export type Briefing = Pick<Call, (typeof TOLD)[number]> & { apiUrl: string; token: string };

/** Reads what the agent of a call is told; nothing of a call that is gone. */
export type BriefAgent = (call: CallKey) => Promise<Briefing | undefined>;

const TOLD = [
  ...(['campaignId', 'batchId', 'workflowRunId', 'contactId', 'externalId', 'attempt'] as const),
  ...(['metadata', 'tags', 'agentId'] as const),
];
/** The most calls that are read at once, and the most of these reads at a time. */
const MOST_READ = 200;
const MOST_READS = 4;

/** @param apiUrl where agents reach this server's interface */
export function createAgentBriefing(options: {
  database: Database;
  calls: Pick<CallStore, 'named'>;
  tokens: Pick<CallTokens, 'make'>;
  apiUrl: string;
}): BriefAgent {
  const { database, calls, tokens, apiUrl } = options;
  const read = coalesce(
    async (wanted: CallKey[]) => {
      const rows = await database.inEngine((tx) => calls.named(tx, wanted));
      const found = new Map(rows.map((row) => [row.id, shapeCall(row)]));
      return wanted.map(({ roomId }) => found.get(roomId));
    },
    { atMost: MOST_READ, sets: MOST_READS },
  );
  return async ({ workspaceId, roomId }) => {
    const call = await read({ workspaceId, roomId });
    if (!call) return undefined;
    const told = Object.fromEntries(TOLD.flatMap((name) => (call[name] === undefined ? [] : [[name, call[name]]])));
    return { ...(told as Pick<Call, (typeof TOLD)[number]>), apiUrl, token: tokens.make(workspaceId, roomId) };
  };
}

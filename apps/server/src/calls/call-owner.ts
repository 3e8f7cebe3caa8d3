import type { EngineTx, Tx } from '../database/database.ts';
import type { EndedCall, ReturnedCall } from './call.ts';

/** A campaign, named for the engine's loops. */
export interface CampaignKey {
  workspaceId: string;
  campaignId: string;
}

/**
 * Whom calls belong to. Calls know nothing of campaigns; what must reach upwards is handed over in `compose.ts` and
 * runs in the transaction that moves the calls.
 */
export interface CallOwner {
  /** Locks the owners' rows. It comes before any call is moved (engine.md, "Locks"). */
  lock(tx: Tx, campaigns: CampaignKey[]): Promise<void>;
  onCallsEnded(tx: Tx, calls: EndedCall[], now: Date): Promise<void>;
  onCallsReturned(tx: EngineTx, calls: ReturnedCall[], now: Date): Promise<void>;
}

/** Owners whose rows need no lock, such as workflow runs: what became of their calls is left for them to find. */
export type UnlockedCallOwner = Omit<CallOwner, 'lock'>;

/** Tells both of every call; each picks out its own. */
export const bothOwners = (locked: CallOwner, unlocked: UnlockedCallOwner): CallOwner => ({
  lock: locked.lock,
  onCallsEnded: async (tx, calls, now) => {
    await locked.onCallsEnded(tx, calls, now);
    await unlocked.onCallsEnded(tx, calls, now);
  },
  onCallsReturned: async (tx, calls, now) => {
    await locked.onCallsReturned(tx, calls, now);
    await unlocked.onCallsReturned(tx, calls, now);
  },
});

/** The campaigns of some calls, each once, in the order in which they are locked. */
export function campaignsOf(calls: Iterable<{ workspaceId: string; campaignId: string | null }>): CampaignKey[] {
  const found = new Map<string, CampaignKey>();
  for (const { workspaceId, campaignId } of calls) {
    if (campaignId !== null) found.set(campaignId, { workspaceId, campaignId });
  }
  return [...found.values()].sort((a, b) =>
    a.workspaceId === b.workspaceId
      ? Number(a.campaignId > b.campaignId) || -1
      : Number(a.workspaceId > b.workspaceId) || -1,
  );
}

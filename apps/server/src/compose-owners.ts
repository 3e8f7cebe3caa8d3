import { recordCompletion } from './dialing/batches/record-batch.ts';
import { intentCallOwner } from './dialing/call-intents/own-calls.ts';
import type { CallOwner } from './dialing/calls/call-owner.ts';
import type { CampaignKey } from './dialing/campaigns/campaign.ts';
import { campaignCallOwner } from './dialing/campaigns/own-calls.ts';
import { recordEngineMove } from './dialing/campaigns/record-campaign.ts';
import { testCallOwner } from './dialing/test-calls/own-calls.ts';
import { transferCallOwner } from './dialing/transfers/own-calls.ts';
import { runCallOwner } from './dialing/workflows/runs/signal-runs.ts';
import type { Tx } from './foundation/database/database.ts';
import type { Clock } from './foundation/values/clock.ts';

/** What owners are told by, where it differs. */
interface OwnersOptions {
  clock: Pick<Clock, 'now'>;
  /** Has contacts and intents claimed at once; absent where nobody claims. */
  claimContacts?: () => void;
  claimIntents?: () => void;
  /** The providers whose calls ring nobody, for calls that are recalled. */
  simulated?: readonly string[];
}

/** Tells of a campaign that its last call has completed, or that has paused itself, in the transaction that does it. */
export const campaignNews = (clock: Pick<Clock, 'now'>) => ({
  onFinished: async (tx: Tx, campaign: CampaignKey) => {
    await recordEngineMove(tx, campaign, clock.now());
    await recordCompletion(tx, campaign, clock.now());
  },
  onPaused: (tx: Tx, campaign: CampaignKey) => recordEngineMove(tx, campaign, clock.now()),
});

/** Whom calls belong to: every owner is named here, and nowhere else. */
export function callOwners({ clock, claimContacts, claimIntents, simulated }: OwnersOptions): CallOwner[] {
  const nobody = () => {};
  return [
    runCallOwner,
    campaignCallOwner(campaignNews(clock), claimContacts ?? nobody, simulated),
    testCallOwner,
    transferCallOwner,
    intentCallOwner(claimIntents ?? nobody),
  ];
}

import { sql } from 'kysely';
import { callOwners } from '../../compose-owners.ts';
import { waitingCalls } from '../../dialing/call-intents/waiting-calls.ts';
import { callEventRecorder } from '../../dialing/calls/call-events.ts';
import { allOwners } from '../../dialing/calls/call-owner.ts';
import { callStore } from '../../dialing/calls/store.ts';
import type { CampaignKey } from '../../dialing/campaigns/campaign.ts';
import { campaignCallDetails } from '../../dialing/campaigns/own-calls.ts';
import type { Database } from '../../foundation/database/database.ts';
import { findCalled } from './called-people.ts';
import { addAllContacts, judgeCalls, markCalls } from './lost-calls.ts';
import type { Plan } from './plan.ts';
import { putBack } from './put-back.ts';

/**
 * Marks the calls of a plan, and puts back what forbids calls: each in a transaction of its own, so that it may be cut off
 * anywhere and begun again.
 */
export async function carryOut(
  database: Database,
  { words, calls, called }: Plan,
  now: Date,
  simulated: readonly string[],
): Promise<void> {
  await putBack(database, words, now);
  const recordEvents = callEventRecorder(callStore(campaignCallDetails, waitingCalls).named);
  const owners = allOwners(callOwners({ clock: { now: () => now }, simulated }), recordEvents);
  const isAdding = calls.filter(({ verdict }) => verdict === 'adding').map(({ call }) => call);
  if (isAdding.length > 0 || called) {
    for (const key of await stillAdding(database)) await addAllContacts(database, key, now);
  }
  const judged = [...calls, ...(await judgeCalls(database, isAdding))];
  const lost = judged.flatMap(({ call, verdict }) => (verdict === 'lost' ? [call] : []));
  await markCalls(database, owners, lost, now);
  // Whom the witness has told of waits for no call any more.
  if (called) await markCalls(database, owners, (await findCalled(database, called.file.rows, now)).calls, now);
}

/** Campaigns that still have to take contacts from their lists. */
async function stillAdding(database: Database): Promise<CampaignKey[]> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ workspace_id: string; id: string }>`
      select workspace_id, id from campaigns where status in ('running', 'paused') and not contacts_added`.execute(db),
  );
  return rows.map((row) => ({ workspaceId: row.workspace_id, campaignId: row.id }));
}

import { sql } from 'kysely';
import { tryMove } from '../../dialing/campaigns/move-campaign.ts';
import { recordCampaignStatus } from '../../dialing/campaigns/record-campaign.ts';
import { type Database, forWorkspace, type WorkspaceTx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { putOptOutsBack } from '../../platform/do-not-call/store.ts';
import type { WitnessedWord } from '../../platform/installation/witness.ts';

/** How many opt-outs one transaction puts back. */
const OPT_OUTS = 10_000;

/** What stopped calls after the backup, by workspace. */
export interface LostWords {
  /** HMACs of numbers, in hex. */
  optOuts: Map<string, Set<string>>;
  moves: { workspaceId: string; campaignId: string; type: 'pause' | 'stop' }[];
  /** Workspaces whose dialing was paused. */
  dialingPaused: Set<string>;
}

export function lostWords(words: readonly WitnessedWord[]): LostWords {
  const lost: LostWords = { optOuts: new Map(), moves: [], dialingPaused: new Set() };
  for (const word of words) {
    if (word.type === 'opt_out') {
      const own = lost.optOuts.get(word.workspaceId) ?? new Set();
      for (const digest of word.to) own.add(digest);
      lost.optOuts.set(word.workspaceId, own);
    } else if (word.type === 'pause_dialing') lost.dialingPaused.add(word.workspaceId);
    else lost.moves.push({ workspaceId: word.workspaceId, campaignId: word.campaignId, type: word.type });
  }
  return lost;
}

/** Does again what stopped calls: opt-outs by their HMACs, pauses and stops. Dialing is paused in all workspaces by then. */
export async function putBack(database: Database, { optOuts, moves }: LostWords, now: Date): Promise<void> {
  for (const [workspaceId, digests] of optOuts) {
    const all = [...digests];
    for (let at = 0; at < all.length; at += OPT_OUTS) {
      const set = all.slice(at, at + OPT_OUTS);
      await database.inEngine((tx) => putOptOutsBack(forWorkspace(tx, workspaceId), set, now));
    }
  }
  for (const { workspaceId, campaignId, type } of moves)
    await database.inEngine((tx) => moveAgain(forWorkspace(tx, workspaceId), campaignId, type, now));
}

/** What was paused may not have begun yet in the backup: then it doesn't begin by itself. */
async function moveAgain(tx: WorkspaceTx, campaignId: string, type: 'pause' | 'stop', now: Date): Promise<void> {
  const { rows } = await sql<Pick<Row<'campaigns'>, 'kind'>>`
    select kind from campaigns where workspace_id = ${tx.workspaceId} and id = ${campaignId}`.execute(tx.db);
  const kind = rows[0]?.kind;
  if (kind === undefined) return;
  const beforeStart = type === 'pause' && kind === 'campaign' ? 'unschedule' : 'cancel';
  for (const name of [type, beforeStart] as const) {
    if (!(await tryMove(tx, campaignId, { kind, name, now }))) continue;
    if (kind === 'campaign') await recordCampaignStatus(tx, campaignId, now);
    return;
  }
}

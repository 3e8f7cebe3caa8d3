import { sql } from 'kysely';
import { giveUpIntents, withdrawn } from '../dialing/call-intents/give-up.ts';
import { intentCallOwner } from '../dialing/call-intents/own-calls.ts';
import { waitingCalls } from '../dialing/call-intents/waiting-calls.ts';
import { callEventRecorder } from '../dialing/calls/call-events.ts';
import { allOwners } from '../dialing/calls/call-owner.ts';
import { requestEndOfCalls } from '../dialing/calls/request-end.ts';
import { callStore } from '../dialing/calls/store.ts';
import { tryMove } from '../dialing/campaigns/move-campaign.ts';
import { campaignCallDetails } from '../dialing/campaigns/own-calls.ts';
import { recordCampaignStatus } from '../dialing/campaigns/record-campaign.ts';
import { type Database, type EngineTx, forWorkspace } from '../foundation/database/database.ts';
import type { Row } from '../foundation/database/schema.ts';
import { gatherEvidence } from '../platform/installation/comparison.ts';
import {
  holdDialing,
  lockInstallation,
  readInstallation,
  releaseDialing,
} from '../platform/installation/installation.ts';
import { restoredBecause } from '../platform/installation/judge-restore.ts';
import { raisePast } from '../platform/installation/slots.ts';
import type { Witnesses } from '../platform/installation/witness.ts';
import type { CalledFile } from './confirm-restore/called-file.ts';
import { carryOut } from './confirm-restore/carry-out.ts';
import { describePlan } from './confirm-restore/describe-plan.ts';
import { makePlan } from './confirm-restore/plan.ts';

/** What a confirmed restore has stopped, calls by themselves as `withdrawn`. */
export interface Confirmed {
  reason: string;
  paused: number;
  cancelled: number;
  withdrawn: number;
}

/** What an operator says beside it. */
export interface Confirmation {
  /** A carrier's list of calls. */
  called?: CalledFile | undefined;
  /** Whether nothing is to be done but told. */
  isDryRun?: boolean;
  /** The providers whose calls ring nobody. */
  simulated?: readonly string[];
  /** Is told what will be marked, before it is. */
  tell?: (text: string) => void;
}

/**
 * The operator's word that the database was restored on purpose. Calls that were placed after the backup, by the witness or a
 * carrier's list, are marked as placed, and what forbids calls is put back. Dialing stays paused in every workspace until its
 * owner resumes it. What would then go on by itself is stopped: running campaigns and batches are paused; what was scheduled
 * for a time that has passed is cancelled, and so are calls by themselves whose time had come, since they may have run after
 * the backup. Dialing is held until all of that is done: what was cut off is done again from the beginning.
 * @returns undefined where nothing looks restored, or nothing was to be done
 */
export async function confirmRestore(
  database: Database,
  witnesses: Witnesses,
  now: Date,
  { called, isDryRun = false, simulated = [], tell = () => {} }: Confirmation = {},
): Promise<Confirmed | undefined> {
  const gathered = await gatherEvidence(database, witnesses);
  const found = await database.inEngine(readInstallation);
  const reason =
    found.held_reason ?? restoredBecause(found, gathered.evidence) ?? (called && 'its operator has a list of calls');
  if (reason === undefined) return undefined;
  // Where no server has looked yet.
  if (!isDryRun) await database.inEngine((tx) => holdDialing(tx, reason, now));
  const plan = await makePlan(database, witnesses.witness, called, now);
  tell(await describePlan(database, plan));
  if (isDryRun) return undefined;
  await carryOut(database, plan, now, simulated);
  const stopped = await database.inEngine((tx) => release(tx, plan.newest, gathered, now));
  return { reason, ...stopped };
}

/** Stops what would go on by itself, and lets dialing be resumed. */
async function release(
  tx: EngineTx,
  newest: ReadonlyMap<number, number>,
  { evidence, cluster }: Awaited<ReturnType<typeof gatherEvidence>>,
  now: Date,
): Promise<Omit<Confirmed, 'reason'>> {
  await lockInstallation(tx);
  const { rows } = await sql<Pick<Row<'campaigns'>, 'workspace_id' | 'id' | 'kind' | 'status'>>`
    select workspace_id, id, kind, status from campaigns
    where status = 'running'
      or (status = 'scheduled' and coalesce(greatest(start_date, scheduled_at), 'epoch') <= ${now})
    order by workspace_id, id for no key update`.execute(tx.db);
  const stopped = { paused: 0, cancelled: 0, withdrawn: await withdrawCalls(tx, now) };
  for (const { workspace_id, id, kind, status } of rows) {
    const name = status === 'scheduled' ? 'cancel' : 'pause';
    const inWorkspace = forWorkspace(tx, workspace_id);
    await tryMove(inWorkspace, id, { kind, name, now });
    if (kind === 'campaign') await recordCampaignStatus(inWorkspace, id, now);
    stopped[name === 'pause' ? 'paused' : 'cancelled'] += 1;
  }
  await raisePast(tx, newest);
  await releaseDialing(tx, cluster, evidence.old?.watermark ?? 0);
  return stopped;
}

/**
 * Ends the calls by themselves that may have rung after the backup: all that wait but those that are scheduled for later,
 * and those that were about to be placed, which a server that takes them over would have placed again. Answers how many.
 */
async function withdrawCalls(tx: EngineTx, now: Date): Promise<number> {
  const recordEvents = callEventRecorder(callStore(campaignCallDetails, waitingCalls).named);
  const owners = allOwners([intentCallOwner(() => undefined)], recordEvents);
  const { rows } = await sql<{ workspace_id: string; ids: string[] }>`
    select c.workspace_id, array_agg(c.id) as ids
    from call_intents i join calls c on c.workspace_id = i.workspace_id and c.id = i.id
    where i.next_attempt_at is null and c.status in ('queued', 'dialing')
    group by c.workspace_id order by c.workspace_id`.execute(tx.db);
  let ended = 0;
  for (const { workspace_id, ids } of rows) {
    ended += await requestEndOfCalls(forWorkspace(tx, workspace_id), owners, ids, now);
  }
  await sql`delete from call_intents where next_attempt_at is null`.execute(tx.db);
  const mayHaveRung = sql`
    select ctid from call_intents
    where next_attempt_at <= ${now} or (next_attempt_at is not null and reason is distinct from 'scheduled') for update`;
  return ended + (await giveUpIntents(tx, mayHaveRung, withdrawn, now, recordEvents)).length;
}

import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import type { CampaignKind, CampaignStatus } from '../../foundation/database/schema.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import { openFailing } from '../../voices/agents/agent-health.ts';
import { type CampaignKey, campaignTransitions } from './campaign.ts';
import type { CampaignDeps } from './deps.ts';
import { recordCampaignStatus } from './record-campaign.ts';
import type { CampaignRow } from './shape-campaign.ts';
import { findCampaign } from './store.ts';

interface Move {
  from: RawBuilder<unknown>;
  to: CampaignStatus;
  /** What the time of the move is kept in. */
  stamps: readonly ('paused_at' | 'resumed_at' | 'stopped_at' | 'cancelled_at' | 'ended_at')[];
  /** Who may do it, for the one who may not. */
  rule: string;
  /** What to do from a status instead. */
  instead: Partial<Record<CampaignStatus, string>>;
  /** What it forbids, as the witness is told of it. */
  told?: 'pause' | 'stop';
}

/** What clients do to a campaign once it is there, but for its start. */
export const campaignMoves = {
  pause: {
    from: from(campaignTransitions, 'paused'),
    to: 'paused',
    stamps: ['paused_at'],
    rule: 'Only a running campaign can be paused',
    instead: {},
    told: 'pause',
  },
  resume: {
    from: from(campaignTransitions, 'running', 'paused'),
    to: 'running',
    stamps: ['resumed_at'],
    rule: 'Only a paused campaign can be resumed',
    instead: { draft: 'Start it instead.' },
  },
  stop: {
    from: from(campaignTransitions, 'stopped'),
    to: 'stopped',
    stamps: ['stopped_at', 'ended_at'],
    rule: 'Only a running or paused campaign can be stopped',
    instead: { draft: 'Cancel it instead.', scheduled: 'Cancel it instead.' },
    told: 'stop',
  },
  unschedule: {
    from: from(campaignTransitions, 'draft'),
    to: 'draft',
    stamps: [],
    rule: 'Only a scheduled campaign can be unscheduled',
    instead: { running: 'Pause it instead.' },
    told: 'pause',
  },
  cancel: {
    from: from(campaignTransitions, 'cancelled'),
    to: 'cancelled',
    stamps: ['cancelled_at', 'ended_at'],
    rule: 'Only a draft or a scheduled campaign can be cancelled',
    instead: { running: 'Stop it instead.', paused: 'Stop it instead.' },
    told: 'stop',
  },
} as const satisfies Record<string, Move>;

/** Makes a move where the status allows it; one that is resumed has its agent tried again. Answers whether it did. */
export async function tryMove(
  tx: WorkspaceTx,
  campaignId: string,
  { kind, name, now }: { kind: CampaignKind; name: keyof typeof campaignMoves; now: Date },
): Promise<boolean> {
  const move: Move = campaignMoves[name];
  const { rows } = await sql<{ agent_id: string }>`
    update campaigns set status = ${sql.lit(move.to)}, updated_at = ${now}, revision = revision + 1,
      recent_ends = '{}', pause_reason = null,
      ${sql.join([sql`next_claim_at = 'epoch'`, ...move.stamps.map((stamp) => sql`${sql.ref(stamp)} = ${now}`)])}
    where workspace_id = ${tx.workspaceId} and id = ${campaignId} and kind = ${sql.lit(kind)} and status in ${move.from}
    returning agent_id`.execute(tx.db);
  if (rows[0] && name === 'resume') await openFailing(tx, rows[0].agent_id);
  return rows.length === 1;
}

/**
 * Pauses, resumes, stops or cancels a campaign. It changes only the campaign's row; what its contacts are told is
 * derived from it (dialing.md, "Locks"). Throws `not_found`, and `invalid_state` where the status doesn't allow it.
 */
export async function moveCampaign(
  { database, clock, nudge, guard }: CampaignDeps,
  workspaceId: string,
  campaignId: string,
  name: keyof typeof campaignMoves,
  auditEntry: AuditEntry,
): Promise<CampaignRow> {
  const [now, since] = [clock.now(), guard.doubts()];
  const moved = await database.inWorkspace(workspaceId, async (tx) => {
    if (await tryMove(tx, campaignId, { kind: 'campaign', name, now }))
      return { campaign: await recordCampaignStatus(tx, campaignId, now, auditEntry) };
    return { refusedAs: (await existing(findCampaign(tx, campaignId))).status };
  });
  if (moved.campaign) nudge();
  // Where that is its status already, it may be asked for again because the witness could not be told.
  if (moved.campaign || moved.refusedAs === campaignMoves[name].to)
    await tellOfMove(guard, { workspaceId, campaignId }, name, { at: now, since });
  if (!moved.campaign) throw new ServiceError('invalid_state', refusal(campaignMoves[name], moved.refusedAs));
  return moved.campaign;
}

/**
 * Has the witness know of a move that stops calls, once it is committed.
 * @param since the guard's `doubts` before that
 */
export async function tellOfMove(
  guard: CampaignDeps['guard'],
  key: CampaignKey,
  name: keyof typeof campaignMoves,
  { at, since }: { at: Date; since: number },
): Promise<void> {
  const { told }: Move = campaignMoves[name];
  if (told) await guard.tell([{ type: told, ...key, at: at.toISOString() }], since);
}

function refusal({ rule, instead }: Move, status: CampaignStatus): string {
  const is = `${rule}; this one is ${status === 'draft' ? 'a draft' : status}.`;
  return instead[status] ? `${is} ${instead[status]}` : is;
}

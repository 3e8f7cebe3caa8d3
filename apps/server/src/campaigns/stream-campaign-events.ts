import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from '@trunkline/client/schema';
import type { CampaignStatus } from '../database/schema.ts';
import type { StreamFrame } from '../http/handler.ts';
import { eventsAfter } from '../journal/events.ts';
import { ticks } from '../journal/ticks.ts';
import { notFound } from '../service-error.ts';
import { callsPerSecond, statsOf } from './campaign-stats.ts';
import type { CampaignDeps } from './deps.ts';
import { hasEnded } from './explain-contact.ts';
import { type CampaignRow, shapeCampaign } from './shape-campaign.ts';
import { findCampaign } from './store.ts';

type CampaignEvent = components['schemas']['CampaignEvent'];

/** Snapshots stand this far apart at least. */
const APART_MS = 500;

/** Whose stream, and from where on. */
export interface StreamRequest {
  workspaceId: string;
  campaignId: string;
  /** What the client has seen last. */
  lastEventId: string | undefined;
  signal: AbortSignal;
}

/**
 * The events of a campaign: snapshots of what it has come to, until it has ended. Nothing where the client has seen the
 * last one. Throws `not_found`.
 */
export async function streamCampaignEvents(
  deps: CampaignDeps,
  request: StreamRequest,
): Promise<AsyncIterable<StreamFrame> | undefined> {
  const { workspaceId, campaignId, lastEventId } = request;
  const begin = await deps.database.inWorkspace(workspaceId, async (tx) => {
    const campaign = await findCampaign(tx, campaignId);
    if (!campaign) throw notFound();
    const seen = lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
    const known = seen !== undefined && seen <= campaign.revision;
    const missed = !known || (await eventsAfter(tx, campaignId, seen, 1)).length > 0;
    return { campaign, seen: known ? seen : undefined, status: missed ? undefined : campaign.status };
  });
  if (hasEnded(begin.campaign.status) && begin.seen === begin.campaign.revision) return undefined;
  return frames(deps, request, begin.seen, begin.status);
}

async function* frames(
  deps: CampaignDeps,
  { workspaceId, campaignId, signal }: StreamRequest,
  lastRevision: number | undefined,
  lastStatus: CampaignStatus | undefined,
): AsyncGenerator<StreamFrame> {
  let [revision, status] = [lastRevision, lastStatus];
  for await (const _ of ticks(deps.notifications, campaignId, signal)) {
    const snapshot = await read(deps, workspaceId, campaignId, revision);
    if (snapshot === 'gone') return;
    if (snapshot === 'same') continue;
    const { campaign, data } = snapshot;
    const eventType: CampaignEvent['eventType'] =
      campaign.status === status ? 'campaign.progress' : `campaign.${campaign.status}`;
    revision = campaign.revision;
    status = campaign.status;
    const id = String(revision);
    yield { id, event: eventType, data: { eventId: id, eventType, data } satisfies CampaignEvent };
    if (hasEnded(status)) return;
    await sleep(APART_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** The campaign as it is now, if it isn't what the client has. */
async function read(
  { database, clock }: CampaignDeps,
  workspaceId: string,
  campaignId: string,
  revision: number | undefined,
): Promise<'gone' | 'same' | { campaign: CampaignRow; data: CampaignEvent['data'] }> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const campaign = await findCampaign(tx, campaignId);
    if (!campaign) return 'gone';
    if (campaign.revision === revision) return 'same';
    const now = clock.now();
    const stats = statsOf(campaign, await callsPerSecond(tx, campaign, now), now);
    return { campaign, data: { campaign: shapeCampaign(campaign), stats } };
  });
}

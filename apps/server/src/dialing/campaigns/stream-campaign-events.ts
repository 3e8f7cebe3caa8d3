import type { StreamSource } from '../../foundation/http/handler.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { follow, type StreamReader } from '../../platform/journal/follow.ts';
import { readStats } from './campaign-stats.ts';
import type { CampaignDeps } from './deps.ts';
import { hasEnded } from './explain-contact.ts';
import { shapeCampaign } from './shape-campaign.ts';
import { findCampaign } from './store.ts';

type CampaignEvent = components['schemas']['CampaignEvent'];

/** Snapshots stand this far apart at least. */
const APART_MS = 500;

/**
 * The events of a campaign: each status that it has come to since the one that the client has seen last, and snapshots of its
 * figures between them, until it has ended. Nothing where the client has seen the last one. Throws `not_found`.
 */
export const streamCampaignEvents = (
  deps: CampaignDeps,
  campaignId: string,
  reader: StreamReader,
): Promise<StreamSource | undefined> =>
  follow(
    deps,
    {
      id: campaignId,
      read: (tx) => findCampaign(tx, campaignId),
      type: ({ status }) => `campaign.${status}` satisfies CampaignEvent['eventType'],
      data: async (campaign, tx) => {
        const stats = await readStats(tx, campaign, deps.clock.now());
        return { campaign: shapeCampaign(campaign), stats } satisfies CampaignEvent['data'];
      },
      past: (campaign, now) => ({ ...now, campaign }),
      isFinal: ({ status }) => hasEnded(status),
      snapshots: { apartMs: APART_MS, type: 'campaign.progress' satisfies CampaignEvent['eventType'] },
    },
    reader,
  );

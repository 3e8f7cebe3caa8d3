import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import { openFailing } from '../../voices/agents/agent-health.ts';
import type { Agent } from '../../voices/agents/directory.ts';
import { isEverOpen } from '../calls/calling-hours.ts';
import type { CampaignKey } from './campaign.ts';
import { campaignTransitions } from './campaign.ts';
import { checkStartable } from './check-startable.ts';
import type { CampaignDeps } from './deps.ts';
import { pauseItself } from './pause-itself.ts';
import { countMissing, neededVariables, variablePlaces } from './preview/missing-variables.ts';
import { readLocalHours } from './preview/preview-counts.ts';
import { previewScope } from './preview/preview-scope.ts';
import { recordCampaignStatus } from './record-campaign.ts';
import { type Campaign, type CampaignRow, startsAt } from './shape-campaign.ts';
import { type Situation, situationOf } from './situation.ts';
import { contactUploads, findCampaign, lockCampaign } from './store.ts';

const notStartable = (message: string) => new ServiceError('campaign_not_startable', message);

/**
 * Starts a draft: it runs at once, or is scheduled where `scheduledAt` or `startDate` lies ahead. Its contacts are added
 * in the background. If phones ring for it, its agent is asked once, unless it is started by `force`. What is answered tells callees' local hours besides. Throws `not_found`, and `campaign_not_startable` with what stands in the way.
 */
export async function startCampaign(
  deps: CampaignDeps,
  workspaceId: string,
  campaignId: string,
  auditEntry: AuditEntry,
  force = false,
): Promise<{ row: CampaignRow } & Pick<Campaign, 'localHours' | 'missingVariables'>> {
  const { database, agents, clock, providers, nudge } = deps;
  const asked = await database.inWorkspace(workspaceId, (tx) => existing(findCampaign(tx, campaignId)));
  const agent = await agents.resolve(asked.agent_id, workspaceId);
  const { rings, neverOpen, ...told } = await foresee(deps, workspaceId, asked, agent);
  // Before phones ring, and not while its row is held.
  const silent = rings && !force && agent?.connection && (await deps.askAgent(workspaceId, agent.connection));
  const started = await database.inWorkspace(workspaceId, async (tx) => {
    const campaign = await existing(lockCampaign(tx, campaignId));
    const now = clock.now();
    if (campaign.status !== 'draft') {
      throw notStartable(`Only a draft can be started; this campaign is ${campaign.status}.`);
    }
    if (campaign.agent_id !== asked.agent_id) throw notStartable('The campaign was just changed. Start it again.');
    if (neverOpen) throw notStartable(NEVER_OPEN);
    if (campaign.end_date && campaign.end_date <= now) throw notStartable('The endDate of the campaign has passed.');
    const obstacle = await checkStartable(tx, campaign, agent, providers);
    if (obstacle) throw notStartable(obstacle.message);
    if (silent) throw notStartable(`${silent} Start it with force=true all the same.`);
    if (rings) await openFailing(tx, campaign.agent_id);
    if (startsAt(campaign) > now) await schedule(tx, campaignId, { asksAgent: !force, now });
    else await beginDialing(tx, campaign, now);
    return recordCampaignStatus(tx, campaignId, now, auditEntry);
  });
  nudge();
  return { row: started, ...told };
}

interface Foreseen extends Pick<Campaign, 'localHours' | 'missingVariables'> {
  rings: boolean;
  neverOpen: boolean;
}

/** What comes of a draft, read at one moment; nothing of what is no draft any more. */
async function foresee(
  deps: CampaignDeps,
  workspaceId: string,
  campaign: CampaignRow,
  agent: Agent | undefined,
): Promise<Foreseen> {
  if (campaign.status !== 'draft') return { rings: false, neverOpen: false };
  const needed = neededVariables(agent?.connection);
  return deps.database.inSnapshot(workspaceId, async (tx) => {
    const scope = await previewScope(tx, campaign, 1, { ...deps, now: deps.clock.now() });
    const localHours = await readLocalHours(tx, scope);
    const missingVariables =
      needed.length > 0 ? await countMissing(tx, scope, await variablePlaces(tx, scope, needed)) : undefined;
    return {
      ...{ rings: scope.situation.rings, neverOpen: isNeverOpen(scope.situation) },
      ...(localHours && { localHours }),
      ...(missingVariables && { missingVariables }),
    };
  });
}

const NEVER_OPEN =
  'No hour is open: the hours of the campaign lie within those in which the workspace calls nobody. Change callingWindows of the one, or quietHours or quietWindows of the other.';

/** Whether nobody could ever be called, in whatever time zone: not even by simulated numbers, and no trusted one. */
const isNeverOpen = ({ hours, freeHours, defaultQuietHours, trusted }: Situation): boolean =>
  !isEverOpen(defaultQuietHours === 'mixed' || trusted.length > 0 ? freeHours : hours);

async function schedule(
  tx: WorkspaceTx,
  campaignId: string,
  { asksAgent, now }: { asksAgent: boolean; now: Date },
): Promise<void> {
  await sql`
    update campaigns set status = 'scheduled', asks_agent = ${asksAgent}, updated_at = ${now}, revision = revision + 1
    where workspace_id = ${tx.workspaceId} and id = ${campaignId} and status in ${from(campaignTransitions, 'scheduled')}`.execute(
    tx.db,
  );
}

/**
 * From here `claiming.ts` goes on: it adds the contacts of these uploads, and claims them. Until then all entries of the
 * lists are counted, also those of a number that stands in several lists. A redial has its contacts already.
 */
async function beginDialing(tx: WorkspaceTx, campaign: CampaignRow, now: Date): Promise<void> {
  const { id: campaignId, redial_of: redialOf } = campaign;
  const uploads = redialOf === null ? await contactUploads(tx, campaignId) : [];
  await sql`
    update campaigns set status = 'running', started_at = ${now}, updated_at = ${now}, revision = revision + 1,
      next_claim_at = 'epoch', contacts_added = false, adding_uploads = ${uploads}, adding_after_row = 0,
      total_contacts = case when redial_of is not null then total_contacts else (select coalesce(sum(l.total_entries), 0) from campaign_lists cl
        join contact_lists l on l.workspace_id = cl.workspace_id and l.id = cl.list_id
        where cl.workspace_id = ${tx.workspaceId} and cl.campaign_id = ${campaignId} and cl.role = 'contacts') end
    where workspace_id = ${tx.workspaceId} and id = ${campaignId} and status in ${from(campaignTransitions, 'running', 'draft', 'scheduled')}`.execute(
    tx.db,
  );
}

/** What the start of a scheduled campaign works with. */
type DueDeps = Pick<CampaignDeps, 'agents' | 'askAgent' | 'providers' | 'operator' | 'isSimulated'>;

/**
 * What becomes of a scheduled campaign or batch whose time has come: it runs, or is `failed` where it can't start any more.
 * A campaign for which phones ring has its agent asked, as by a start, and is paused as `agent_failing` if that can't be
 * reached. Throws `unavailable` when the agent directory can't be asked: it is tried again then.
 */
export const startDueCampaign =
  (deps: DueDeps) =>
  async (database: Database, key: CampaignKey, now: Date): Promise<void> => {
    const { workspaceId, campaignId } = key;
    const { asked, rings } = await database.inWorkspace(workspaceId, async (tx) => {
      const found = await findCampaign(tx, campaignId, 'any');
      const asks = found?.kind === 'campaign' && found.asks_agent;
      return { asked: found, rings: asks && (await situationOf(tx, found, now, deps)).rings };
    });
    const agent = asked && (await deps.agents.resolve(asked.agent_id, workspaceId));
    const silent = rings && agent?.connection && (await deps.askAgent(workspaceId, agent.connection));
    await database.inWorkspace(workspaceId, async (tx) => {
      const campaign = await lockCampaign(tx, campaignId, 'any');
      // It may have been changed since it was found due; then its turn comes again.
      if (campaign?.status !== 'scheduled' || campaign.agent_id !== asked?.agent_id || startsAt(campaign) > now) return;
      const obstacle = await checkStartable(tx, campaign, agent, deps.providers);
      if (!obstacle) {
        if (rings && !silent) await openFailing(tx, campaign.agent_id);
        await beginDialing(tx, campaign, now);
      } else {
        await sql`
          update campaigns set status = 'failed', failure_reason = ${obstacle.reason}, ended_at = ${now},
            updated_at = ${now}, revision = revision + 1
          where workspace_id = ${workspaceId} and id = ${campaignId} and status in ${from(campaignTransitions, 'failed')}`.execute(
          tx.db,
        );
      }
      if (campaign.kind === 'campaign') await recordCampaignStatus(tx, campaignId, now);
      if (silent && (await pauseItself(tx, key, 'agent_failing', now))) await recordCampaignStatus(tx, campaignId, now);
    });
  };

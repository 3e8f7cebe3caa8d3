import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { pageAnswer, pageOf, several } from '../../foundation/database/page.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Handlers, RequestContext } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { created, ok, replayable } from '../../foundation/values/success.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { readStats } from './campaign-stats.ts';
import { openReasonCounts } from './count-reasons.ts';
import { createCampaign } from './create-campaign.ts';
import { deleteCampaign } from './delete-campaign.ts';
import type { CampaignDeps } from './deps.ts';
import { contactPage } from './list-contacts.ts';
import { type campaignMoves, moveCampaign } from './move-campaign.ts';
import { readAgentsNeeds } from './preview/agents-needs.ts';
import { previewCampaign } from './preview/preview-campaign.ts';
import { redialContacts } from './redial-contacts.ts';
import { type CampaignRow, shapeCampaign } from './shape-campaign.ts';
import { skipContact } from './skip-contact.ts';
import { startCampaign } from './start-campaign.ts';
import { campaignPage, findCampaign } from './store.ts';
import { streamCampaignEvents } from './stream-campaign-events.ts';
import { updateCampaign } from './update-campaign.ts';

const DEFAULT_SAMPLE = 20;

/** What the key that asks does to a campaign, for the audit log. */
const auditEntryOf = (context: RequestContext, done: string, id: string) =>
  auditOf(context)(`campaign.${done}`, 'campaign', id);

const shown = (row: CampaignRow) => tagged(ok(shapeCampaign(row)), row);

/** The operations of campaigns. */
export function campaignOperations(deps: CampaignDeps & { jobs: Jobs; secrets: Secrets }) {
  const { database, clock } = deps;
  const reasonCounts = openReasonCounts();
  const ofCampaign = <T>(
    workspaceId: string,
    id: string,
    read: (campaign: CampaignRow, tx: WorkspaceTx) => Promise<T> | T,
  ) =>
    database.inSnapshot(workspaceId, async (tx) => {
      const campaign = await existing(findCampaign(tx, fromId(id)));
      return read(campaign, tx);
    });
  const move = async (id: string, context: RequestContext, name: keyof typeof campaignMoves, done: string) =>
    shown(await moveCampaign(deps, context.workspaceId, fromId(id), name, auditEntryOf(context, done, id)));

  return {
    listCampaigns: async ({ query }, { workspaceId }) => {
      const page = pageOf(query);
      const found = await database.inSnapshot(workspaceId, (tx) =>
        campaignPage(tx, {
          ...{ ...page, kind: 'campaign', statuses: several(query.status), tag: query.tag },
          listId: query.listId && fromId(query.listId),
        }),
      );
      return ok(pageAnswer(page, found, shapeCampaign));
    },
    createCampaign: async ({ body, headers }, context) => {
      const entryOf = (id: string) => auditEntryOf(context, 'created', id);
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await createCampaign(deps, context.workspaceId, body, entryOf, key);
      return tagged(replayable(created(shapeCampaign(made)), replayed), made);
    },
    getCampaign: async ({ path }, { workspaceId }) => ofCampaign(workspaceId, path.id, shown),
    updateCampaign: async ({ path, body, headers }, context) => {
      const { workspaceId } = context;
      const auditEntry = auditEntryOf(context, 'updated', path.id);
      const ifMatch = headers['If-Match'];
      return shown(await updateCampaign(deps, workspaceId, fromId(path.id), body, auditEntry, ifMatch));
    },
    deleteCampaign: async ({ path }, context) => {
      await deleteCampaign(deps, context.workspaceId, fromId(path.id), auditEntryOf(context, 'deleted', path.id));
      return ok({ id: path.id, deleted: true as const });
    },
    startCampaign: async ({ path, query }, context) => {
      const auditEntry = auditEntryOf(context, 'started', path.id);
      const id = fromId(path.id);
      const { row, ...hours } = await startCampaign(deps, context.workspaceId, id, auditEntry, query.force);
      return tagged(ok({ ...shapeCampaign(row), ...hours }), row);
    },
    pauseCampaign: ({ path }, context) => move(path.id, context, 'pause', 'paused'),
    resumeCampaign: ({ path }, context) => move(path.id, context, 'resume', 'resumed'),
    stopCampaign: ({ path }, context) => move(path.id, context, 'stop', 'stopped'),
    unscheduleCampaign: ({ path }, context) => move(path.id, context, 'unschedule', 'unscheduled'),
    cancelCampaign: ({ path }, context) => move(path.id, context, 'cancel', 'cancelled'),
    previewCampaign: async ({ path, body }, { workspaceId }) => {
      const size = body?.sampleSize ?? DEFAULT_SAMPLE;
      const { agent_id: agentId } = await ofCampaign(workspaceId, path.id, (campaign) => campaign);
      const { needed, unreadySentences } = await readAgentsNeeds(deps, workspaceId, agentId);
      const preview = await ofCampaign(workspaceId, path.id, (campaign, tx) =>
        previewCampaign(tx, campaign, size, { ...deps, now: clock.now(), needed }),
      );
      return ok({ ...preview, ...(unreadySentences !== undefined && { unreadySentences }) });
    },
    listCampaignContacts: async ({ path, query }, { workspaceId }) => {
      const page = pageOf(query);
      const wanted = { ...page, states: several(query.state), reason: query.reason };
      const found = await ofCampaign(workspaceId, path.id, (campaign, tx) =>
        contactPage(tx, campaign, wanted, { ...deps, now: clock.now() }),
      );
      return ok(pageAnswer(page, found, (contact) => contact));
    },
    redialCampaignContacts: async ({ path, body, headers }, context) => {
      const { made, replayed } = await redialContacts(deps, context.workspaceId, fromId(path.id), body ?? {}, {
        idempotencyKey: headers['Idempotency-Key'],
        auditEntryOf: (id) => auditEntryOf(context, 'redialled', id),
      });
      return replayable(ok(made), replayed);
    },
    skipCampaignContact: async ({ path }, context) => {
      const auditEntry = auditEntryOf(context, 'contact_skipped', path.id);
      const key = { campaignId: fromId(path.id), contactId: fromId(path.contactId) };
      return ok(await skipContact(deps, context.workspaceId, key, auditEntry));
    },
    getCampaignStats: async ({ path }, { workspaceId }) =>
      ofCampaign(workspaceId, path.id, async (campaign, tx) => {
        const now = clock.now();
        const reasons = await reasonCounts.read(tx, campaign, { ...deps, now });
        return ok({ ...(await readStats(tx, campaign, now)), reasons });
      }),
    streamCampaignEvents: async ({ path, headers }, { workspaceId }) => {
      const reader = { workspaceId, lastEventId: headers['Last-Event-ID'] };
      const stream = await streamCampaignEvents(deps, fromId(path.id), reader);
      return stream ? { status: 200, stream } : { status: 204 };
    },
  } satisfies Partial<Handlers>;
}

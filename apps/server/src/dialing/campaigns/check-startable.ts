import { sql } from 'kysely';
import { readTimeZone, timeZoneFault } from '../../audience/contact-lists/reading/time-zone.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { FailureReason } from '../../foundation/database/schema.ts';
import { toId } from '../../foundation/values/ids.ts';
import { hasReadyMember } from '../../lines/number-pools/free-at.ts';
import { joinTrunk, type PhoneNumberRow, type Provider, trunkColumns } from '../../lines/phone-numbers/phone-number.ts';
import { whyNotFrom } from '../../lines/phone-numbers/why-not-from.ts';
import { isDoNotCall, readDoNotCallUploads } from '../../platform/do-not-call/do-not-call-numbers.ts';
import type { Agent } from '../../voices/agents/directory.ts';
import { hasConsent } from './contact-refusal.ts';
import type { CampaignRow } from './shape-campaign.ts';
import { contactUploads } from './store.ts';

/** Why a campaign can't start: for the client who starts it, and for the record of a scheduled one. */
export interface StartObstacle {
  message: string;
  reason: FailureReason;
}

/**
 * Whether a campaign can start now (campaigns.md, "Make one"), apart from its status. The caller holds its row; its
 * lists are held until the transaction ends, so that none is deleted meanwhile.
 * @param agent what the agent directory answered
 * @returns what stands in the way, the first of it
 */
export async function checkStartable(
  tx: WorkspaceTx,
  campaign: CampaignRow,
  agent: Agent | undefined,
  providers: readonly Provider[],
): Promise<StartObstacle | undefined> {
  if (!agent) return { message: `There is no agent ${campaign.agent_id}.`, reason: 'agent_unavailable' };
  if (readTimeZone(campaign.timezone) === undefined) {
    return { message: `The time zone of the campaign: ${timeZoneFault(campaign.timezone)}`, reason: 'internal' };
  }
  const { schedule_start: start, schedule_end: end } = campaign;
  if ((start === null) !== (end === null) || (start !== null && end !== null && start >= end)) {
    return { message: 'The daily window must have a start and a later end.', reason: 'internal' };
  }
  return checkPeople(tx, campaign, providers);
}

/** Whether a campaign has who calls, and who is called. They are held until the transaction ends, as above. */
export async function checkPeople(
  tx: WorkspaceTx,
  campaign: CampaignRow,
  providers: readonly Provider[],
): Promise<StartObstacle | undefined> {
  return (
    (await checkCaller(tx, campaign, providers)) ?? (await checkLists(tx, campaign)) ?? checkContacts(tx, campaign)
  );
}

type CallerRow = Pick<CampaignRow, 'phone_number_id' | 'number_pool_id' | 'from_number'>;

/** Whether a campaign's number, or a number of its pool, can place calls. Both are held until the transaction ends. */
export async function checkCaller(
  tx: WorkspaceTx,
  campaign: CallerRow,
  providers: readonly Provider[],
): Promise<StartObstacle | undefined> {
  const { number_pool_id: poolId } = campaign;
  return poolId === null ? checkNumber(tx, campaign, providers) : checkPool(tx, poolId, providers);
}

async function checkNumber(
  tx: WorkspaceTx,
  campaign: CallerRow,
  providers: readonly Provider[],
): Promise<StartObstacle | undefined> {
  const { rows } = await sql<PhoneNumberRow>`
    select n.*, ${trunkColumns} from phone_numbers n ${joinTrunk}
    where n.workspace_id = ${tx.workspaceId} and n.id = ${campaign.phone_number_id} for share of n`.execute(tx.db);
  const [number] = rows;
  const reason = 'no_outbound_number';
  if (!number) return { message: 'The campaign has no number to call from.', reason };
  const message = whyNotFrom(number, providers);
  return message === undefined ? undefined : { message, reason };
}

async function checkPool(
  tx: WorkspaceTx,
  poolId: string,
  providers: readonly Provider[],
): Promise<StartObstacle | undefined> {
  const reason = 'no_outbound_number';
  const { rows } = await sql<{ name: string }>`
    select name from number_pools where workspace_id = ${tx.workspaceId} and id = ${poolId} for share`.execute(tx.db);
  const [pool] = rows;
  if (!pool) return { message: 'The number pool was deleted. Give the campaign another one, or a number.', reason };
  if (await hasReadyMember(tx, poolId, providers)) return undefined;
  return {
    message: `No number of the pool "${pool.name}" can place calls. Add one, or validate its trunks to see why.`,
    reason,
  };
}

async function checkLists(tx: WorkspaceTx, campaign: CampaignRow): Promise<StartObstacle | undefined> {
  const { rows } = await sql<{ id: string; status: string }>`
    select l.id, l.status from campaign_lists cl
    join contact_lists l on l.workspace_id = cl.workspace_id and l.id = cl.list_id
    where cl.workspace_id = ${tx.workspaceId} and cl.campaign_id = ${campaign.id}
      and (cl.role = 'dnd' or ${campaign.redial_of === null})
    order by l.id for share of l`.execute(tx.db);
  const unready = rows.find((row) => row.status !== 'ready');
  if (!unready) return undefined;
  const id = toId('list', unready.id);
  const message =
    unready.status === 'archived'
      ? `The contact list ${id} was deleted. Give the campaign another one.`
      : `The contact list ${id} is not ready. Confirm its upload first.`;
  return { message, reason: 'no_callable_contacts' };
}

async function checkContacts(tx: WorkspaceTx, campaign: CampaignRow): Promise<StartObstacle | undefined> {
  const uploads = await contactUploads(tx, campaign.id);
  const doNotCall = await readDoNotCallUploads(tx, campaign.id);
  const blocked = isDoNotCall(sql.ref('e.phone_number'), sql`${tx.workspaceId}`, doNotCall);
  const entries =
    campaign.redial_of === null
      ? sql`from contact_list_entries e where e.workspace_id = ${tx.workspaceId} and e.upload_id = any(${uploads}::uuid[])`
      : sql`from campaign_contacts e where e.workspace_id = ${tx.workspaceId} and e.campaign_id = ${campaign.id}
          and e.state = 'pending'`;
  const agreed = campaign.require_consent
    ? hasConsent(sql.ref('e.phone_number'), sql`${tx.workspaceId}::uuid`, sql`${campaign.id}::uuid`)
    : sql`true`;
  const callable = await sql`select ${entries} and not ${blocked} and ${agreed} limit 1`.execute(tx.db);
  if (callable.rows.length > 0) return undefined;
  const counted = await sql<{ count: number }>`select count(distinct e.phone_number) as count ${entries}`.execute(
    tx.db,
  );
  const { count } = counted.rows[0]!;
  const consent = campaign.require_consent ? ', or no list says that they have agreed (requireConsent)' : '';
  const word = doNotCall.some.length > 0 ? ', or not to be called by the word of their lists (doNotCall)' : '';
  const why = count === 0 ? 'there is none' : `all ${count} are on the do-not-call list${word}${consent}`;
  return { message: `No contact of the lists can be called: ${why}.`, reason: 'no_callable_contacts' };
}

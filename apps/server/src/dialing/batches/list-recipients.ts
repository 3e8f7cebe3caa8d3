import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { noCursor, type Page, type PageQuery, pageRows, placeIn } from '../../foundation/database/page.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { hasPairs, type MetadataPair } from '../calls/metadata-pairs.ts';
import { contactPage } from '../campaigns/list-contacts.ts';
import type { CampaignRow } from '../campaigns/shape-campaign.ts';
import type { SituationTerms } from '../campaigns/situation.ts';
import { findCampaign } from '../campaigns/store.ts';
import { type KeptRejection, shownRejection } from './judge-recipients.ts';

type BatchRecipient = components['schemas']['BatchRecipientState'];

/** Which recipients of a batch are wanted. */
export interface RecipientQuery extends Omit<PageQuery, 'searchText'> {
  /** All, where it is undefined. */
  accepted: boolean | undefined;
  externalId: string | undefined;
  /** What the metadata of their calls have: all of these. */
  metadata: readonly MetadataPair[] | undefined;
}

/**
 * A page of everyone whom the request of a batch named. Those who are not among the rejected were accepted, and their
 * contacts' IDs rise in the order of the request. Of who was erased no place is left. Throws `not_found`.
 */
export async function recipientPage(
  tx: WorkspaceTx,
  batchId: string,
  { accepted, externalId, metadata, ...query }: RecipientQuery,
  terms: SituationTerms & { now: Date },
): Promise<Page<BatchRecipient>> {
  const campaign = await existing(findCampaign(tx, batchId, 'batch'));
  const { rejected } = await tx.db
    .selectFrom('batches')
    .select('rejected')
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', batchId)
    .executeTakeFirstOrThrow();
  const refused = new Map((rejected as KeptRejection[]).map((each) => [each.index, each]));
  // Where somebody was erased, those who were rejected may stand after as many as are left.
  const length = Math.max(campaign.total_contacts + refused.size, 1 + Math.max(-1, ...refused.keys()));
  const free = Array.from({ length }, (_, index) => index).filter((index) => !refused.has(index));
  const inOrder = free.slice(0, campaign.total_contacts);
  const all = [...inOrder, ...refused.keys()].toSorted((a, b) => a - b);
  const placeOf = new Map(inOrder.map((index, place) => [index, place]));
  const found = await placesWith(tx, campaign, { externalId, metadata });
  const isWanted = (index: number) => {
    const no = refused.get(index);
    if (accepted === (no !== undefined)) return false;
    if (!no) return found?.has(placeOf.get(index)!) ?? true;
    return metadata === undefined && (externalId === undefined || no.externalId === externalId);
  };
  const wanted = all.filter(isWanted);
  if (query.order === 'desc') wanted.reverse();
  const start = startOf(wanted, query);
  const indexes = wanted.slice(start, start + query.perPage);
  const isLast = start + query.perPage >= wanted.length;

  const asked = indexes.filter((index) => !refused.has(index)).toSorted((a, b) => a - b);
  const places = asked.map((index) => placeOf.get(index)!);
  const contacts = await contactsAt(tx, batchId, places);
  const ids = contacts.map(({ id }) => id);
  const page = {
    page: 1,
    perPage: Math.max(1, ids.length),
    order: 'asc' as const,
    states: undefined,
    reason: undefined,
  };
  const { rows } = await contactPage(tx, campaign, { ...page, ids }, terms);
  return {
    rows: indexes.map((index): BatchRecipient => {
      const no = refused.get(index);
      if (no) return { ...shownRejection(no), accepted: false, attempts: 0, roomIds: [] };
      const at = asked.indexOf(index);
      const { id: contactId, name: _, variables: __, ...state } = rows[at]!;
      const { external_id: externalId } = contacts[at]!;
      return { index, contactId, ...(externalId !== null && { externalId }), accepted: true, ...state };
    }),
    totalCount: query.includeTotal === false ? undefined : (query.totalCount ?? wanted.length),
    end: isLast ? undefined : indexes.slice(-1),
  };
}

/** Where a page begins among the indexes that are wanted. */
function startOf(wanted: readonly number[], query: Omit<PageQuery, 'searchText'>): number {
  if (query.after === undefined) return pageRows(query).offset;
  const [last] = placeIn(1, query.after);
  const at = wanted.indexOf(last as number);
  if (at < 0) noCursor();
  return at + 1;
}

/** The contacts of a batch that stand at these places, which rise, in the order of the request. */
async function contactsAt(tx: WorkspaceTx, batchId: string, places: readonly number[]) {
  const [first] = places;
  if (first === undefined) return [];
  const { rows } = await sql<{ id: string; external_id: string | null }>`
    select id, external_id from campaign_contacts
    where workspace_id = ${tx.workspaceId} and campaign_id = ${batchId}
    order by id limit ${places.at(-1)! - first + 1} offset ${first}`.execute(tx.db);
  return places.map((place) => rows[place - first]!);
}

/** At which places the accepted stand that are asked for; nothing where all are. */
async function placesWith(
  tx: WorkspaceTx,
  batch: CampaignRow,
  { externalId, metadata }: Pick<RecipientQuery, 'externalId' | 'metadata'>,
): Promise<Set<number> | undefined> {
  if (externalId === undefined && metadata === undefined) return undefined;
  const own = sql`${JSON.stringify(batch.metadata ?? {})}::jsonb || coalesce(metadata, '{}')`;
  const { rows } = await sql<{ place: number }>`
    select place from (
      select external_id, metadata, row_number() over (order by id) - 1 as place from campaign_contacts
      where workspace_id = ${tx.workspaceId} and campaign_id = ${batch.id}) as contact
    where (${externalId ?? null}::text is null or external_id = ${externalId ?? null})
      and ${metadata === undefined ? sql`true` : hasPairs(sql`(${own})`, metadata)}`.execute(tx.db);
  return new Set(rows.map(({ place }) => place));
}

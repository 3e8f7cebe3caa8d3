import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { noCursor, type Page, type PageQuery, pageRows, placeIn } from '../../foundation/database/page.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { contactPage } from '../campaigns/list-contacts.ts';
import type { SituationTerms } from '../campaigns/situation.ts';
import { findCampaign } from '../campaigns/store.ts';
import { type KeptRejection, shownRejection } from './judge-recipients.ts';

type BatchRecipient = components['schemas']['BatchRecipientState'];

/** Which recipients of a batch are wanted. */
export interface RecipientQuery extends Omit<PageQuery, 'searchText'> {
  /** All, where it is undefined. */
  accepted: boolean | undefined;
}

/**
 * A page of everyone whom the request of a batch named. Those who are not among the rejected were accepted, and their
 * contacts' IDs rise in the order of the request. Of who was erased no place is left. Throws `not_found`.
 */
export async function recipientPage(
  tx: WorkspaceTx,
  batchId: string,
  { accepted, ...query }: RecipientQuery,
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
  const wanted = all.filter((index) => accepted === undefined || accepted !== refused.has(index));
  if (query.order === 'desc') wanted.reverse();
  const start = startOf(wanted, query);
  const indexes = wanted.slice(start, start + query.perPage);
  const isLast = start + query.perPage >= wanted.length;

  const asked = indexes.filter((index) => !refused.has(index)).toSorted((a, b) => a - b);
  const contacts = await contactsFrom(tx, batchId, { first: inOrder.indexOf(asked[0] ?? -1), count: asked.length });
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
function startOf(wanted: readonly number[], query: Omit<RecipientQuery, 'accepted'>): number {
  if (query.after === undefined) return pageRows(query).offset;
  const [last] = placeIn(1, query.after);
  const at = wanted.indexOf(last as number);
  if (at < 0) noCursor();
  return at + 1;
}

/** Some contacts of a batch that follow one another in the order of the request. */
async function contactsFrom(tx: WorkspaceTx, batchId: string, { first, count }: { first: number; count: number }) {
  if (count === 0) return [];
  const { rows } = await sql<{ id: string; external_id: string | null }>`
    select id, external_id from campaign_contacts
    where workspace_id = ${tx.workspaceId} and campaign_id = ${batchId}
    order by id limit ${count} offset ${first}`.execute(tx.db);
  return rows;
}

import { sql } from 'kysely';
import { type EntryRow, shapeEntry } from '../../audience/contact-lists/entry-store.ts';
import { batchStatus } from '../../dialing/batches/batch.ts';
import { toE164 } from '../../dialing/calls/call.ts';
import { shapeCall } from '../../dialing/calls/shape-call.ts';
import type { CallStore } from '../../dialing/calls/store.ts';
import { judgeContact } from '../../dialing/campaigns/judge-contact.ts';
import type { SituationTerms } from '../../dialing/campaigns/situation.ts';
import { findCampaign } from '../../dialing/campaigns/store.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { notFound } from '../../foundation/values/service-error.ts';
import { timeZonesOfNumber } from '../../lines/phone-numbers/number-time-zones.ts';
import { numbersNotCalled } from '../../platform/do-not-call/do-not-call-numbers.ts';

type Person = components['schemas']['Person'];

/** So many lists, campaigns and calls are shown, the newest. */
const MOST_LISTS = 100;
const MOST_CAMPAIGNS = 50;
const MOST_CALLS = 20;

/** What is asked, and what the key that asks may see. */
export interface PersonQuery {
  /** E.164 without the plus. */
  number: number;
  now: Date;
  mayRead: (permission: 'campaigns:read' | 'calls:read' | 'do_not_call:read') => boolean;
}

/** What the workspace knows of who has a number. Throws `not_found` if there is nothing that may be read. */
export async function readPerson(
  tx: WorkspaceTx,
  { number, now, mayRead }: PersonQuery,
  terms: SituationTerms & { calls: CallStore },
): Promise<Person> {
  const entries = await entriesOf(tx, number);
  const person: Person = {
    phoneNumber: toE164(number),
    timezones: [...timeZonesOfNumber(number)],
    lists: entries.map(({ list_id, list_name, type, columns, ...entry }) => ({
      contactListId: toId('list', list_id),
      name: list_name,
      type,
      entry: shapeEntry(entry, columns),
    })),
    ...(mayRead('do_not_call:read') && (await doNotCallOf(tx, number, entries))),
    ...(mayRead('campaigns:read') && { campaigns: await campaignsOf(tx, { number, now, mayRead }, terms) }),
    ...(mayRead('calls:read') && (await callsOf(tx, number, terms.calls))),
  };
  const { lists, doNotCall = [], isDoNotCall, campaigns = [], calls = [] } = person;
  if (!isDoNotCall && [lists, doNotCall, campaigns, calls].every(({ length }) => length === 0)) throw notFound();
  return person;
}

type ListedEntry = Omit<EntryRow, 'row_number' | 'upload'> & {
  list_id: string;
  list_name: string;
  type: 'contacts' | 'dnd';
  columns: string[];
  is_ready: boolean;
};

/** The rows of contact lists with a number: one index look-up for each upload. */
async function entriesOf(tx: WorkspaceTx, number: number): Promise<ListedEntry[]> {
  const { rows } = await sql<ListedEntry>`
    select e.phone_number, e.name, e.timezone, e."values", e.do_not_call, e.consent, e.created_at, u.processed_at,
      l.id as list_id, l.name as list_name, l.type, l.columns, l.status = 'ready' as is_ready
    from contact_lists l
    join contact_list_uploads u on u.workspace_id = l.workspace_id and u.list_id = l.id and u.status = 'processed'
    join contact_list_entries e on e.workspace_id = u.workspace_id and e.upload_id = u.id and e.phone_number = ${number}
    where l.workspace_id = ${tx.workspaceId} and l.status <> 'archived' and l.type in ('contacts', 'dnd')
    order by u.processed_at desc, u.id limit ${sql.lit(MOST_LISTS)}`.execute(tx.db);
  return rows;
}

async function doNotCallOf(
  tx: WorkspaceTx,
  number: number,
  entries: readonly ListedEntry[],
): Promise<Pick<Person, 'isDoNotCall' | 'doNotCall'>> {
  const phoneNumber = toE164(number);
  const optOut = await tx.db
    .selectFrom('do_not_call')
    .select(['reason', 'created_at'])
    .where('workspace_id', '=', tx.workspaceId)
    .where('phone_number', '=', number)
    .executeTakeFirst();
  const listed = entries.filter(({ type, is_ready }) => type === 'dnd' && is_ready);
  return {
    isDoNotCall: (await numbersNotCalled(tx, [number])).has(number),
    doNotCall: [
      ...(optOut
        ? [
            {
              phoneNumber,
              source: 'opt_out' as const,
              ...(optOut.reason !== null && { reason: optOut.reason }),
              createdAt: optOut.created_at.toISOString(),
            },
          ]
        : []),
      ...listed.map(({ list_id, processed_at }) => ({
        phoneNumber,
        source: 'list' as const,
        contactListId: toId('list', list_id),
        createdAt: processed_at.toISOString(),
      })),
    ],
  };
}

async function campaignsOf(
  tx: WorkspaceTx,
  { number, now, mayRead }: PersonQuery,
  terms: SituationTerms,
): Promise<NonNullable<Person['campaigns']>> {
  const { rows } = await sql<Pick<Row<'campaign_contacts'>, 'campaign_id' | 'id' | 'lane'>>`
    select k.campaign_id, k.id, k.lane from campaign_contacts k
    join campaigns p on p.workspace_id = k.workspace_id and p.id = k.campaign_id
    where k.workspace_id = ${tx.workspaceId} and k.phone_number = ${number}
      and (p.kind = 'campaign' or ${mayRead('calls:read')})
    order by p.created_at desc, p.id desc limit ${sql.lit(MOST_CAMPAIGNS)}`.execute(tx.db);
  const found: NonNullable<Person['campaigns']> = [];
  for (const { campaign_id, id, lane } of rows) {
    const campaign = (await findCampaign(tx, campaign_id, 'any'))!;
    const isBatch = campaign.kind === 'batch';
    found.push({
      ...(isBatch ? { batchId: toId('bat', campaign.id) } : { campaignId: toId('cmp', campaign.id) }),
      ...(campaign.name !== '' && { name: campaign.name }),
      status: isBatch ? batchStatus(campaign.status) : campaign.status,
      ...(await judgeContact(tx, campaign, { id, lane }, { ...terms, now })),
    });
  }
  return found;
}

async function callsOf(tx: WorkspaceTx, number: number, calls: CallStore) {
  const asked = { page: 1, perPage: MOST_CALLS, order: 'desc', includeTotal: false, phoneNumber: number } as const;
  const { rows, end } = await calls.page(tx, asked);
  return { calls: rows.map(shapeCall), hasMoreCalls: end !== undefined };
}

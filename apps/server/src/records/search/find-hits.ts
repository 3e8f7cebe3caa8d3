import { type RawBuilder, sql } from 'kysely';
import type { CallRow } from '../../dialing/calls/shape-call.ts';
import type { CallStore } from '../../dialing/calls/store.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { findPeople } from './find-people.ts';
import { type Kind, kinds } from './kinds.ts';
import type { SearchText } from './search-text.ts';

type Hit = components['schemas']['SearchHit'];

/** So many of each type are shown. */
const MOST = 10;
/** Of names so many are looked at, those of the newest. */
const MOST_NAMES = 10_000;

/** What is looked for, and what the key that asks may see. */
export interface Search {
  text: SearchText;
  mayRead: (permission: string) => boolean;
  calls: CallStore;
}

/** All that bears a text as its ID, its number, or at the beginning of a word of its name. */
export async function findHits(
  tx: WorkspaceTx,
  { text, mayRead, calls }: Search,
): Promise<components['schemas']['SearchResult']> {
  const { id } = text;
  const people =
    id === undefined && mayRead('contact_lists:read')
      ? await findPeople(tx, text, MOST)
      : { hits: [], peopleIncomplete: false };
  const ofCalls = mayRead('calls:read') ? await findCalls(tx, text, calls) : [];
  const wanted = kinds.filter(({ permission, prefix, isByIdAlone }) => {
    const isMeant = id === undefined ? !isByIdAlone : id.startsWith(`${prefix}_`);
    return isMeant && mayRead(permission);
  });
  const others = await together(
    tx,
    wanted.map((kind) => () => findOthers(tx, kind, text)),
  );
  return { ...people, hits: [...people.hits, ...ofCalls, ...others.flat()] };
}

async function findCalls(tx: WorkspaceTx, { id, digits, isWholeNumber }: SearchText, calls: CallStore): Promise<Hit[]> {
  if (id?.startsWith('room_')) {
    const call = await calls.find(tx, fromId(id));
    return call ? [shapeHit(call, 'id')] : [];
  }
  if (!isWholeNumber) return [];
  const asked = { page: 1, perPage: MOST, order: 'desc', includeTotal: false, phoneNumber: Number(digits) } as const;
  return (await calls.page(tx, asked)).rows.map((call) => shapeHit(call, 'number'));
}

/** The number is the person's. */
const shapeHit = (call: CallRow, matched: Hit['matched']): Hit => ({
  ...{ type: 'call', id: toId('room', call.id), matched, status: call.status },
  phoneNumber: `+${call.direction === 'outbound' ? call.to_number : call.from_number}`,
});

interface Found {
  id: string;
  name: string | null;
  status: string | null;
  number: string | null;
  is_by_number: boolean;
}

/** The newest of a kind that bear the text, those with its digits first. IDs are in the order of time. */
async function findOthers(
  tx: WorkspaceTx,
  { type, prefix, table, where = sql`true`, shown }: Kind,
  { id, digits, inName }: SearchText,
): Promise<Hit[]> {
  const column = (expression = 'null') => sql`${sql.raw(expression)}::text`;
  const isNamed: RawBuilder<unknown> = id === undefined ? sql`true` : sql`id = ${fromId(id)}`;
  const byNumber = digits === undefined ? sql`false` : sql`coalesce(number like ${`%${digits}%`}, false)`;
  const isFound = id === undefined ? sql`is_by_number or name ~* ${inName}` : sql`true`;
  const { rows } = await sql<Found>`
    select * from (
      select newest.*, ${byNumber} as is_by_number from (
        select id, left(${column(shown.name)}, 255) as name, ${column(shown.status)} as status, ${column(shown.number)} as number
        from ${sql.table(table)} where workspace_id = ${tx.workspaceId} and ${where} and ${isNamed}
        order by id desc limit ${sql.lit(MOST_NAMES)}) newest) found
    where ${isFound} order by is_by_number desc, id desc limit ${sql.lit(MOST)}`.execute(tx.db);
  return rows.map((row) => ({
    ...{ type, id: toId(prefix, row.id), matched: id !== undefined ? 'id' : row.is_by_number ? 'number' : 'name' },
    ...(row.name && { name: row.name }),
    ...(row.number !== null && { phoneNumber: row.number }),
    ...(row.status !== null && { status: row.status }),
  }));
}

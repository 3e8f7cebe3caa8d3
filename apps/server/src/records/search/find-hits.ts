import { type RawBuilder, sql } from 'kysely';
import { batchStatus } from '../../dialing/batches/batch.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId, type IdPrefix, toId } from '../../foundation/values/ids.ts';

type Hit = components['schemas']['SearchHit'];

/** So many of each type are shown, and so many that begin with the text are looked at. */
const MOST = 10;
const MOST_LOOKED_AT = 1000;

/** What of a workspace is found by its ID, and by the beginning of its name if that is said. */
interface Kind {
  type: Exclude<Hit['type'], 'person'>;
  prefix: IdPrefix;
  permission: string;
  table: string;
  /** SQL of its name in lower case: a column with an index where there may be many, since `lower` may run only behind the wall between workspaces. */
  name?: string;
  where?: RawBuilder<boolean>;
  /** SQL of what the contract calls them. */
  shown?: { name?: string; status?: string; number?: string };
}

/** In the order in which hits are shown, behind the people. */
const kinds: readonly Kind[] = [
  {
    ...{ type: 'call', prefix: 'room', permission: 'calls:read', table: 'calls' },
    shown: { status: 'status', number: `'+' || case direction when 'outbound' then to_number else from_number end` },
  },
  {
    ...{ type: 'campaign', prefix: 'cmp', permission: 'campaigns:read', table: 'campaigns', name: 'search_name' },
    where: sql<boolean>`kind = 'campaign'`,
    shown: { name: 'name', status: 'status' },
  },
  {
    ...{ type: 'batch', prefix: 'bat', permission: 'calls:read', table: 'campaigns' },
    where: sql<boolean>`kind = 'batch'`,
    shown: { status: 'status' },
  },
  {
    ...{
      type: 'contact_list',
      prefix: 'list',
      permission: 'contact_lists:read',
      table: 'contact_lists',
      name: 'search_name',
    },
    where: sql<boolean>`status <> 'archived' and type <> 'batch'`,
    shown: { name: 'name', status: 'status' },
  },
  {
    ...{ type: 'agent', prefix: 'agent', permission: 'agents:read', table: 'agents', name: 'lower(name)' },
    shown: { name: 'name' },
  },
  {
    ...{ type: 'phone_number', prefix: 'pn', permission: 'phone_numbers:read', table: 'phone_numbers' },
    where: sql<boolean>`status <> 'released'`,
    shown: { name: 'friendly_name', status: 'status', number: 'phone_number' },
  },
  {
    ...{
      type: 'number_pool',
      prefix: 'pool',
      permission: 'number_pools:read',
      table: 'number_pools',
      name: 'lower(name)',
    },
    shown: { name: 'name' },
  },
  {
    ...{
      type: 'trunk',
      prefix: 'trk',
      permission: 'phone_numbers:read',
      table: 'trunks',
      name: 'lower(termination_url)',
    },
    shown: { name: 'termination_url' },
  },
  {
    ...{ type: 'workflow', prefix: 'wf', permission: 'workflows:read', table: 'workflows', name: 'lower(name)' },
    shown: { name: 'name' },
  },
  {
    ...{ type: 'workflow_run', prefix: 'run', permission: 'workflows:read', table: 'workflow_runs' },
    shown: { name: 'workflow_name', status: 'status' },
  },
  {
    ...{ type: 'knowledge_base', prefix: 'kb', permission: 'knowledge_bases:read', table: 'knowledge_bases' },
    ...{ name: 'lower(name)', shown: { name: 'name' } },
  },
];

/** What is looked for, and what the key that asks may see. */
export interface SearchQuery {
  /** Without the space around it. */
  text: string;
  /** E.164 without the plus, if the text is a number. */
  number: number | undefined;
  mayRead: (permission: string) => boolean;
}

/** All that bears a text as its ID, its number, or at the beginning of its name. */
export async function findHits(tx: WorkspaceTx, query: SearchQuery): Promise<Hit[]> {
  const id = /^([a-z]+)_[0-9a-f]{32}$/.exec(query.text.toLowerCase());
  const hits: Hit[] = query.mayRead('contact_lists:read') && !id ? await peopleOf(tx, query) : [];
  for (const kind of kinds.filter(({ permission }) => query.mayRead(permission))) {
    if (id) {
      if (id[1] === kind.prefix) hits.push(...(await read(tx, kind, sql`id = ${fromId(id[0])}`, 'id')));
      continue;
    }
    const found = [...(await byNumber(tx, kind, query)), ...(await byName(tx, kind, query.text))];
    hits.push(...found.filter((hit, at) => found.findIndex(({ id }) => id === hit.id) === at).slice(0, MOST));
  }
  return hits;
}

/** Behind all that begins with a text, in the order of bytes. */
const LAST = '\u{10ffff}';

/**
 * SQL for whether a text in lower case begins with another. By two comparisons that may look past the wall between
 * workspaces, unlike `like`: an index with `text_pattern_ops` answers them.
 */
const beginsWith = (column: string, text: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.raw(column)} <> '' and ${sql.raw(column)} ~>=~ lower(${text}) and ${sql.raw(column)} ~<~ (lower(${text}) || ${LAST})`;

async function byName(tx: WorkspaceTx, kind: Kind, text: string): Promise<Hit[]> {
  return kind.name === undefined ? [] : read(tx, kind, beginsWith(kind.name, text), 'name');
}

async function byNumber(tx: WorkspaceTx, kind: Kind, { text, number }: SearchQuery): Promise<Hit[]> {
  if (kind.type === 'call' && number !== undefined) {
    const inbound = sql`direction = 'inbound' and from_number = ${number}`;
    const all = [
      ...(await read(tx, kind, sql`to_number = ${number}`, 'number')),
      ...(await read(tx, kind, inbound, 'number')),
    ];
    return all.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  }
  if (kind.type !== 'phone_number') return [];
  const digits = text.replaceAll(/[ ().-]/g, '');
  const begun = /^\+?\d{4,15}$/.test(digits) ? [sql`phone_number like ${`+${digits.replace('+', '')}%`}`] : [];
  const exact = number === undefined ? [] : [sql`phone_number = ${`+${number}`}`];
  const either = [...exact, ...begun];
  return either.length === 0 ? [] : read(tx, kind, sql`(${sql.join(either, sql` or `)})`, 'number');
}

interface Found {
  id: string;
  name: string | null;
  status: string | null;
  number: string | null;
}

/** The newest of a kind of which something is true. IDs are in the order of time. */
async function read(
  tx: WorkspaceTx,
  { type, prefix, table, where = sql`true`, shown = {} }: Kind,
  is: RawBuilder<unknown>,
  matched: Hit['matched'],
): Promise<Hit[]> {
  const column = (expression: string | undefined) => sql.raw(expression ?? 'null');
  const { rows } = await sql<Found>`
    select * from (
      select id, ${column(shown.name)}::text as name, ${column(shown.status)}::text as status,
        ${column(shown.number)}::text as number
      from ${sql.table(table)} where workspace_id = ${tx.workspaceId} and ${where} and ${is}
      limit ${sql.lit(MOST_LOOKED_AT)}) as found
    order by id desc limit ${sql.lit(MOST)}`.execute(tx.db);
  return rows.map(({ id, name, status, number }) => ({
    ...{ type, id: toId(prefix, id), matched },
    ...(name && { name }),
    ...(number !== null && { phoneNumber: number }),
    ...(status !== null && { status: type === 'batch' ? batchStatus(status as never) : status }),
  }));
}

/** The people in lists with a number, or whose name begins with the text; each once. */
async function peopleOf(tx: WorkspaceTx, { text, number }: SearchQuery): Promise<Hit[]> {
  const matched = number === undefined ? 'name' : 'number';
  const entries =
    number === undefined
      ? sql`
        select phone_number, name, upload_id from contact_list_entries
        where workspace_id = ${tx.workspaceId} and ${beginsWith('search_name', text)} limit ${sql.lit(MOST_LOOKED_AT)}`
      : sql`
        select e.phone_number, e.name, e.upload_id from contact_list_uploads u
        join contact_list_entries e on e.workspace_id = u.workspace_id and e.upload_id = u.id and e.phone_number = ${number}
        where u.workspace_id = ${tx.workspaceId} and u.status = 'processed'`;
  const { rows } = await sql<{ phone_number: number; name: string | null }>`
    select distinct on (e.phone_number) e.phone_number, e.name from (${entries}) as e
    join contact_list_uploads u on u.workspace_id = ${tx.workspaceId} and u.id = e.upload_id and u.status = 'processed'
    join contact_lists l on l.workspace_id = u.workspace_id and l.id = u.list_id
      and l.status <> 'archived' and l.type in ('contacts', 'dnd')
    order by e.phone_number, u.processed_at desc limit ${sql.lit(MOST)}`.execute(tx.db);
  return rows.map(({ phone_number, name }) => {
    const phoneNumber = `+${phone_number}`;
    return { type: 'person' as const, id: phoneNumber, matched, ...(name !== null && { name }), phoneNumber };
  });
}

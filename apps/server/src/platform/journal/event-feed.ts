import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { lacking } from '../../foundation/values/permissions.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';

/** Events that one look at the feed looks at, and those that it reads. */
export const LOOKED_AT = 500;
export const MOST_READ = 100;

/** Each family of events: how their resources are named, and the permission by which they are read. */
const FAMILIES = new Map([
  ['call', { prefix: 'room', permission: 'calls:read' }],
  ['campaign', { prefix: 'cmp', permission: 'campaigns:read' }],
  ['batch', { prefix: 'bat', permission: 'calls:read' }],
  ['workflow_run', { prefix: 'run', permission: 'workflows:read' }],
  ['upload', { prefix: 'upl', permission: 'contact_lists:read' }],
  ['knowledge_base', { prefix: 'kb', permission: 'knowledge_bases:read' }],
  ['phone_number', { prefix: 'pn', permission: 'phone_numbers:read' }],
  ['trunk', { prefix: 'trk', permission: 'phone_numbers:read' }],
] as const);
type Family = typeof FAMILIES extends Map<infer Name, unknown> ? Name : never;

const familyOf = (type: string) => type.split('.')[0] as Family;

/** Which events a reader wants, and may have. */
export interface FeedFilter {
  /** Families that the reader may read. */
  families: readonly Family[];
  /** Of these types, or families such as `call.*`. */
  types: readonly string[] | undefined;
  /** UUID. */
  resourceId: string | undefined;
}

export function feedFilter(
  permissions: readonly string[],
  { type, resourceId }: { type?: string | string[]; resourceId?: string },
): FeedFilter {
  const families = [...FAMILIES].filter(([, { permission }]) => lacking(permissions, [permission]).length === 0);
  return {
    families: families.map(([name]) => name),
    types: type === undefined ? undefined : [type].flat().toSorted(),
    resourceId: resourceId === undefined ? undefined : fromId(resourceId),
  };
}

const isWanted = ({ families, types, resourceId }: FeedFilter, place: Pick<FeedPlace, 'type' | 'resource_id'>) =>
  families.includes(familyOf(place.type)) &&
  (!types || types.includes(place.type) || types.includes(`${familyOf(place.type)}.*`)) &&
  (resourceId === undefined || place.resource_id === resourceId);

interface FeedPlace {
  place: number;
  resource_id: string;
  revision: number;
  type: string;
}

/** The feed of a workspace: what stands behind `begins_behind`, and no further than `last_place`, is there. */
export interface FeedState {
  last_place: number;
  begins_behind: number;
}

/** Nothing if it is off. */
export async function findFeed(tx: WorkspaceTx): Promise<FeedState | undefined> {
  const { rows } = await sql<FeedState>`
    select f.last_place, f.begins_behind from workspaces w join event_feeds f on f.workspace_id = w.id
    where w.id = ${tx.workspaceId} and w.event_feed`.execute(tx.db);
  return rows[0];
}

/** The same. Throws `invalid_state` if it is off. */
export async function existingFeed(tx: WorkspaceTx): Promise<FeedState> {
  const feed = await findFeed(tx);
  if (feed) return feed;
  const message = 'The event feed is off. Switch it on first: PATCH /v1/workspace with {"eventFeed": true}.';
  throw new ServiceError('invalid_state', message);
}

/** Throws `events_expired` if not everything behind a place is there. */
export function checkKept({ begins_behind, last_place }: FeedState, after: number): void {
  if (after < begins_behind || after > last_place) throw expired(after);
}

export const expired = (after: number) =>
  new ServiceError(
    'events_expired',
    `Events behind ${after} are not kept any more. Ask with after=latest for a place to go on from, read the resources anew, and then go on behind that place.`,
  );

/** An event at its place. */
export interface FeedItem extends FeedPlace {
  id: string;
  data: object;
  created_at: Date;
}

/**
 * The next events behind a place that a reader wants, and the place up to which all were looked at. Throws `events_expired`
 * for one that is deleted.
 */
export async function readFeed(
  tx: WorkspaceTx,
  filter: FeedFilter,
  after: number,
  limit: number,
): Promise<{ items: FeedItem[]; after: number }> {
  const { rows: places } = await sql<FeedPlace>`
    select place, resource_id, revision, type from feed_places
    where workspace_id = ${tx.workspaceId} and place > ${after} order by place limit ${sql.lit(LOOKED_AT)}`.execute(
    tx.db,
  );
  const all = places.filter((place) => isWanted(filter, place));
  const wanted = all.slice(0, limit);
  const last = all.length > limit ? wanted.at(-1) : places.at(-1);
  if (wanted.length === 0) return { items: [], after: last?.place ?? after };
  const { rows: items } = await sql<FeedItem>`
    select x.place, x.resource_id, x.revision, e.type, e.id, e.data, e.created_at
    from unnest(${wanted.map((each) => each.place)}::bigint[], ${wanted.map((each) => each.resource_id)}::uuid[],
      ${wanted.map((each) => each.revision)}::bigint[]) as x (place, resource_id, revision)
    join events e on e.workspace_id = ${tx.workspaceId} and e.resource_id = x.resource_id and e.revision = x.revision
    order by x.place`.execute(tx.db);
  if (items.length < wanted.length) throw expired(after);
  return { items, after: last?.place ?? after };
}

/** An event of the feed as clients see it. */
export const presentEvent = ({ place, id, resource_id, type, created_at, data }: FeedItem) => ({
  after: String(place),
  eventId: toId('evt', id),
  resourceId: toId(FAMILIES.get(familyOf(type))!.prefix, resource_id),
  event: { type, timestamp: created_at.toISOString(), data },
});

/** Has the feed begin anew: what was not written while it was off can't be read over. */
export async function beginFeed(tx: WorkspaceTx): Promise<void> {
  await sql`
    insert into event_feeds (workspace_id, last_place, begins_behind) values (${tx.workspaceId}, 1, 1)
    on conflict (workspace_id) do update
    set last_place = event_feeds.last_place + 1, begins_behind = event_feeds.last_place + 1`.execute(tx.db);
}

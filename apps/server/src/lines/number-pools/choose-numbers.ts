import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import { countryOfNumber } from '../phone-numbers/numbering-plan.ts';
import { providers } from '../phone-numbers/phone-number.ts';
import { lockTrunkRooms, startsWithin, type TrunkRoom } from '../trunks/trunk-room.ts';
import { assignNumbers, type Callee, type Candidate, isBestPossible } from './assign-numbers.ts';
import { type PoolQuery, readCandidates, readCandidatesFor } from './read-candidates.ts';

/** Whether no telephone rings for numbers of a provider; undefined for one that isn't configured here. */
type IsSimulated = (provider: string) => boolean | undefined;

/** How often members are read anew, without those of trunks that turned out to be full. */
const MOST_READS = 3;

/** A pool under its lock, with the members that come first. */
export interface OpenPool {
  query: PoolQuery;
  candidates: Candidate[];
  /** The trunks of the candidates, held too, by their UUIDs. */
  trunks: ReadonlyMap<string, TrunkRoom>;
  /** How many calls can start over each of them. */
  starts: ReadonlyMap<string, number>;
  /** How many calls its members that are free can take. */
  room: number;
}

/** A pool that calls are wanted from, which start between two times. */
interface PoolWish {
  workspaceId: string;
  poolId: string;
  now: Date;
  isSimulated: IsSimulated;
  firstStart: Date;
  lastStart: Date;
}

/**
 * Locks a pool and reads the members that may be called from now, so many as `calls` calls can need, and then locks
 * their trunks. If some of these are full, others are read in place of their members, a few times. What is read holds
 * until the transaction ends: claims count under these locks only (dialing.md, "Caller IDs of a pool"). The pool's lock
 * touches 3 buffers.
 */
export async function openPool(tx: Tx, pool: PoolWish, calls: number): Promise<OpenPool> {
  const { workspaceId, poolId, now, isSimulated, firstStart, lastStart } = pool;
  const configured = providers.filter((provider) => isSimulated(provider) !== undefined);
  const fullTrunks: string[] = [];
  // One more than calls, so that a retry finds another number than its last, and a member that is called another than itself.
  const asked = { most: calls + 1, startBy: lastStart };
  const query = { workspaceId, poolId, now, providers: configured, ...asked, fullTrunks };
  const trunks = new Map<string, TrunkRoom>();
  let [, candidates] = await together(tx, [
    sql`select from number_pools where workspace_id = ${workspaceId} and id = ${poolId} for no key update`,
    () => readCandidates(tx, query),
  ]);
  for (let read = 1; ; read += 1) {
    const ids = new Set(candidates.flatMap(({ trunkId }) => (trunkId && !trunks.has(trunkId) ? [trunkId] : [])));
    // Who waits for trunks in another order than that of their IDs might wait in a circle: only the first time it waits.
    const rooms = await lockTrunkRooms(tx, workspaceId, [...ids], read === 1);
    for (const room of rooms) trunks.set(room.id, room);
    const starts = new Map([...trunks].map(([id, room]) => [id, startsWithin(room, firstStart, lastStart)]));
    const isFull = (id: string) => (starts.get(id) ?? 0) <= 0;
    const full = [...ids].filter(isFull);
    candidates = candidates.filter(({ trunkId }) => trunkId === null || !isFull(trunkId));
    fullTrunks.push(...full);
    if (full.length === 0 || read === MOST_READS)
      return { query, candidates, trunks, starts, room: roomOf(candidates, starts) };
    candidates = await readCandidates(tx, query);
  }
}

/** How many calls some members can take: no more over a trunk than can start there. */
function roomOf(candidates: readonly Candidate[], starts: ReadonlyMap<string, number>): number {
  const alone = candidates.filter(({ trunkId }) => trunkId === null).reduce((sum, { room }) => sum + room, 0);
  const over = [...starts].map(([id, most]) =>
    Math.min(
      most,
      candidates.filter(({ trunkId }) => trunkId === id).reduce((sum, { room }) => sum + room, 0),
    ),
  );
  return over.reduce((sum, room) => sum + room, alone);
}

/**
 * Chooses a number for each callee; nothing for whom no member is free that may call there. Where the members that were
 * read are not all, and others could suit better, those of the callees' countries are read too, as far as their trunks
 * are held.
 */
export async function chooseNumbers(
  tx: Tx,
  { query, candidates, starts }: OpenPool,
  callees: Callee[],
): Promise<(Candidate | undefined)[]> {
  const assigned = assignNumbers(callees, candidates, starts);
  if (candidates.length < query.most || isBestPossible(callees, assigned)) return assigned;
  const countries = [...new Set(callees.map(({ country }) => country))];
  const more = await readCandidatesFor(tx, query, countries);
  const held = more.filter(({ trunkId }) => trunkId === null || starts.has(trunkId));
  const all = new Map([...candidates, ...held].map((candidate) => [candidate.id, candidate]));
  return assignNumbers(callees, [...all.values()], starts);
}

/** A number to call one person from. */
export interface PoolNumber extends Pick<Candidate, 'id' | 'fromNumber' | 'provider' | 'trunkId'> {
  /** Its trunk, held, where it has one. */
  trunk?: TrunkRoom;
}

/**
 * Chooses a member of a pool for one call, as a claim does for its batch, under the pool's lock. Who uses it marks the
 * call as `pooled`, and counts it by `countUses` once the call is inserted. Nothing where no member is free that may call
 * there; a number never calls itself.
 * @param to E.164 without the plus
 * @param avoid UUID of the number of the last attempt
 * @param lastStart when the call may start at the latest
 */
export async function pickPoolNumber(
  tx: Tx,
  workspaceId: string,
  poolId: string,
  {
    to,
    now,
    isSimulated,
    avoid,
    lastStart = now,
  }: { to: number; now: Date; isSimulated: IsSimulated; avoid?: string | undefined; lastStart?: Date },
): Promise<PoolNumber | undefined> {
  const wanted = { workspaceId, poolId, now, isSimulated };
  const pool = await openPool(tx, { ...wanted, firstStart: now, lastStart }, 1);
  const [chosen] = await chooseNumbers(tx, pool, [{ toNumber: to, country: countryOfNumber(to), avoid }]);
  if (!chosen) return undefined;
  const { id, fromNumber, provider, trunkId } = chosen;
  const trunk = trunkId === null ? undefined : pool.trunks.get(trunkId);
  return { id, fromNumber, provider, trunkId, ...(trunk && { trunk }) };
}

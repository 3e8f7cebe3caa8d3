import { sql } from 'kysely';
import type { EngineTx } from '../database/database.ts';
import { together } from '../database/together.ts';
import { countryOfNumber } from '../phone-numbers/numbering-plan.ts';
import { providers } from '../phone-numbers/phone-number.ts';
import { assignNumbers, type Callee, type Candidate, isBestPossible } from './assign-numbers.ts';
import { type PoolQuery, readCandidates, readCandidatesFor } from './read-candidates.ts';

/** Whether no telephone rings for numbers of a provider; undefined for one that isn't configured here. */
type IsSimulated = (provider: string) => boolean | undefined;

/** A pool under its lock, with the members that come first. */
export interface OpenPool {
  query: PoolQuery;
  candidates: Candidate[];
  /** How many calls its members that are free can take. */
  room: number;
}

/**
 * Locks a pool and reads the members that may be called from now, so many as `calls` calls can need. What is read holds
 * until the transaction ends: claims count under this lock only (engine.md, "Claims"). The lock touches 3 buffers.
 */
export async function openPool(
  tx: EngineTx,
  pool: { workspaceId: string; poolId: string; now: Date; isSimulated: IsSimulated },
  calls: number,
): Promise<OpenPool> {
  const { workspaceId, poolId, now, isSimulated } = pool;
  const configured = providers.filter((provider) => isSimulated(provider) !== undefined);
  // One more than calls, so that a retry finds another number than its last.
  const query = { workspaceId, poolId, now, providers: configured, most: calls + 1 };
  const [, candidates] = await together(tx, [
    sql`select from number_pools where workspace_id = ${workspaceId} and id = ${poolId} for no key update`,
    () => readCandidates(tx, query),
  ]);
  return { query, candidates, room: candidates.reduce((sum, { room }) => sum + room, 0) };
}

/**
 * Chooses a number for each callee; nothing for whom no member is free that may call there. Where the members that were
 * read are not all, and others could suit better, those of the callees' countries are read too.
 */
export async function chooseNumbers(
  tx: EngineTx,
  { query, candidates }: OpenPool,
  callees: Callee[],
): Promise<(Candidate | undefined)[]> {
  const assigned = assignNumbers(callees, candidates);
  if (candidates.length < query.most || isBestPossible(callees, assigned)) return assigned;
  const countries = [...new Set(callees.map(({ country }) => country))];
  const more = await readCandidatesFor(tx, query, countries);
  const all = new Map([...candidates, ...more].map((candidate) => [candidate.id, candidate]));
  return assignNumbers(callees, [...all.values()]);
}

/** A number to call one person from. */
export interface PoolNumber {
  /** UUID of the phone number. */
  id: string;
  /** E.164 without the plus. */
  fromNumber: number;
  provider: string;
}

/**
 * Chooses a member of a pool for one call, as a claim does for its batch, under the pool's lock. Who uses it marks the
 * call as `pooled`, and counts it by `countUses` once the call is inserted. Nothing where no member is free that may call
 * there.
 * @param to E.164 without the plus
 * @param avoid UUID of the number of the last attempt
 */
export async function pickPoolNumber(
  tx: EngineTx,
  workspaceId: string,
  poolId: string,
  { to, now, isSimulated, avoid }: { to: number; now: Date; isSimulated: IsSimulated; avoid?: string | undefined },
): Promise<PoolNumber | undefined> {
  const pool = await openPool(tx, { workspaceId, poolId, now, isSimulated }, 1);
  const [chosen] = await chooseNumbers(tx, pool, [{ country: countryOfNumber(to), avoid }]);
  return chosen && { id: chosen.id, fromNumber: chosen.fromNumber, provider: chosen.provider };
}

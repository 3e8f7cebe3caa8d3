/** A member of a pool that may be called from now. */
export interface Candidate {
  /** UUID of the phone number. */
  id: string;
  /** E.164 without the plus. */
  fromNumber: number;
  provider: string;
  /** UUID of its trunk; null for a number without one. */
  trunkId: string | null;
  /** ISO 3166-1 alpha-2; null for a number of none. */
  country: string | null;
  /** The countries that it may call; empty means all. */
  allowedCountries: readonly string[];
  /** How many more calls may be placed from it now. */
  room: number;
  /** When it was last used, in seconds. */
  lastUsed: number;
}

/** Whom a number is wanted for. */
export interface Callee {
  /** E.164 without the plus. */
  toNumber: number;
  /** Undefined for a number of no country (+883 …). */
  country: string | undefined;
  /** UUID of the number that the last attempt was placed from. */
  avoid?: string | undefined;
  /** Which members may call; without it all. */
  only?: (candidate: Candidate) => boolean;
}

/**
 * Gives each callee, in their order, a number to be called from (phone-numbers.md, "Which number calls"): one that may call there and
 * has room, and is not the callee itself; rather another than that of the last attempt; rather one of the callee's country; of those the least recently
 * used. Nothing for whom there is none.
 * @param trunks how many calls can start over each trunk, by its UUID; one that is not named has room for all
 */
export function assignNumbers(
  callees: readonly Callee[],
  candidates: readonly Candidate[],
  trunks: ReadonlyMap<string, number> = new Map(),
): (Candidate | undefined)[] {
  const line = candidates.toSorted((a, b) => a.lastUsed - b.lastUsed);
  const room = new Map(candidates.map(({ id, room }) => [id, room]));
  const starts = new Map(trunks);
  const hasStart = (trunkId: string | null) => trunkId === null || (starts.get(trunkId) ?? 1) > 0;
  return callees.map((callee) => {
    let best = -1;
    let bestRank = -1;
    for (const [at, candidate] of line.entries()) {
      if (room.get(candidate.id)! <= 0 || !hasStart(candidate.trunkId)) continue;
      if (candidate.fromNumber === callee.toNumber || !mayCallFrom(candidate, callee.country)) continue;
      if (callee.only?.(candidate) === false) continue;
      const rank = rankOf(candidate, callee);
      if (rank > bestRank) [best, bestRank] = [at, rank];
      if (rank === BEST) break;
    }
    const [chosen] = best === -1 ? [] : line.splice(best, 1);
    if (!chosen) return undefined;
    room.set(chosen.id, room.get(chosen.id)! - 1);
    const left = chosen.trunkId === null ? undefined : starts.get(chosen.trunkId);
    if (left !== undefined) starts.set(chosen.trunkId!, left - 1);
    line.push(chosen);
    return chosen;
  });
}

const BEST = 3;
const rankOf = (candidate: Candidate, callee: Callee): number =>
  (candidate.id === callee.avoid ? 0 : 2) + (isOfCountry(candidate, callee) ? 1 : 0);

/** A callee of no country has no number of its own. */
const isOfCountry = ({ country }: Candidate, callee: Callee): boolean =>
  callee.country === undefined || country === callee.country;

/** Whether a number may call a country. */
export const mayCallFrom = ({ allowedCountries }: Candidate, country: string | undefined): boolean =>
  allowedCountries.length === 0 || (country !== undefined && allowedCountries.includes(country));

/** Whether more candidates could not make an assignment better. */
export function isBestPossible(callees: readonly Callee[], assigned: readonly (Candidate | undefined)[]): boolean {
  const used = new Set(assigned.map((candidate) => candidate?.id));
  return (
    used.size === callees.length &&
    assigned.every((candidate, at) => candidate && rankOf(candidate, callees[at]!) === BEST)
  );
}

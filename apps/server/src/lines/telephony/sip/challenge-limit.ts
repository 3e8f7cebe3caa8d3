import { isIPv6 } from 'node:net';

/** How often who has no address of a trunk's is answered: not so often that anybody could guess its password. */
export interface ChallengeLimit {
  /**
   * Whether a call over a trunk that comes from an address may be answered now. What is refused does not count.
   * @param isTry it answers a challenge that was sent to that address, so that nobody else can have sent it: tries are
   * counted apart from calls without an answer, which anybody can send in anybody's name
   */
  allows(trunkId: string, address: string, isTry: boolean): boolean;
  /** Who calls from there knows the trunk's password. */
  prove(trunkId: string, address: string): void;
}

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;
const TRIES_A_MINUTE = 10;
const TRIES_A_SECOND_OF_TRUNK = 50;
const CHALLENGES_A_SECOND = 10;
const CHALLENGES_A_SECOND_OF_TRUNK = 50;
/** For so long an address counts as the trunk's after a call with its password: then it may call as fast as it likes. */
const PROVEN_MS = 60 * MINUTE_MS;
const A_SECOND_WHEN_PROVEN = 100;
const MOST_PROVEN = 10_000;

/**
 * For each trunk: ten challenges a second for a network and fifty for all, so that who sends packets in another's name must
 * send as many to shut it out; ten tries of a password a minute for a network and fifty a second for all; a hundred a second
 * for an address that has proven itself.
 */
export function challengeLimit(now: () => number = () => performance.now()): ChallengeLimit {
  const proven = new Map<string, number>();
  const [seconds, minutes] = [countsIn(SECOND_MS, now), countsIn(MINUTE_MS, now)];
  return {
    allows(trunkId, address, isTry) {
      const kind = isTry ? 'try' : 'challenge';
      const ofTrunk = `${kind} ${trunkId}`;
      if ((proven.get(`${trunkId} ${address}`) ?? 0) > now())
        return take([seconds, `${ofTrunk} proven ${address}`, A_SECOND_WHEN_PROVEN]);
      const ofNetwork = `${ofTrunk} ${networkOf(address)}`;
      return isTry
        ? take([seconds, ofTrunk, TRIES_A_SECOND_OF_TRUNK], [minutes, ofNetwork, TRIES_A_MINUTE])
        : take([seconds, ofTrunk, CHALLENGES_A_SECOND_OF_TRUNK], [seconds, ofNetwork, CHALLENGES_A_SECOND]);
    },
    prove(trunkId, address) {
      const key = `${trunkId} ${address}`;
      proven.delete(key);
      if (proven.size >= MOST_PROVEN) proven.delete(proven.keys().next().value!);
      proven.set(key, now() + PROVEN_MS);
    },
  };
}

/** Counts under keys, in windows of some milliseconds. */
type Counts = () => Map<string, number>;

function countsIn(ms: number, now: () => number): Counts {
  const counts = new Map<string, number>();
  let until = 0;
  return () => {
    if (now() >= until) {
      counts.clear();
      until = now() + ms;
    }
    return counts;
  };
}

/** Counts one more under each key, unless one of them has its most: so what a trunk lets in bounds how many keys there are. */
function take(...limits: [counts: Counts, key: string, most: number][]): boolean {
  if (limits.some(([counts, key, most]) => (counts().get(key) ?? 0) >= most)) return false;
  for (const [counts, key] of limits) counts().set(key, (counts().get(key) ?? 0) + 1);
  return true;
}

/** Whoever has one address of a /64 has them all. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = tail.split(':').filter(Boolean);
  const zeros = address.includes('::') ? Math.max(0, 8 - groups.length - rest.length) : 0;
  return [...groups, ...Array<string>(zeros).fill('0'), ...rest].slice(0, 4).join(':');
}

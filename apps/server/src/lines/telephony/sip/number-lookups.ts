import { setTimeout as sleep } from 'node:timers/promises';
import type { SipRequest, Target } from '@trunkline/sip';
import { limiter, Shares } from '../../../foundation/values/limiter.ts';
import type { InboundPeers } from './inbound-peers.ts';
import { calledUsers } from './users-in-request.ts';

type Asked = Parameters<InboundPeers['read']>;
type Found = NonNullable<Awaited<ReturnType<InboundPeers['read']>>>;

/** Reads to whom calls are that arrive. */
export interface NumberLookups {
  /**
   * The number that a call is to, and who calls; `unknown` if it is no number of the peer's trunks, `known_unknown` if that
   * was asked a moment ago, and `full` if too many wait.
   */
  read(...asked: Asked): Promise<Found | 'unknown' | 'known_unknown' | 'full'>;
}

/** Sets of look-ups at a time, each of one database connection, one of an address: what a peer sends costs no more. */
const AT_ONCE = 2;
/** So long an address that has called a number of nobody waits for its next set: what it sends on and on is asked together. */
const GATHER_MS = 50;
/** Those that wait for one, half of them of one address: a carrier that is told to wait tries again, or elsewhere. */
const MOST_AT_A_TIME = 200;
/** For how long a number that nobody has is not looked up again for its peer. */
const UNKNOWN_MS = 5000;
const MOST_UNKNOWN = 10_000;

/** @param read as `InboundPeers` does, which asks the database each time */
export function createNumberLookups(
  read: InboundPeers['read'],
  now: () => number = () => performance.now(),
): NumberLookups {
  const ask = askInSets(read);
  const places = new Shares(MOST_AT_A_TIME);
  const unknown = new Map<string, number>();
  const forget = (key: string) => {
    unknown.delete(key);
    if (unknown.size >= MOST_UNKNOWN) unknown.delete(unknown.keys().next().value!);
  };
  return {
    async read(request, source, username) {
      const key = keyOf(request, source, username);
      if ((unknown.get(key) ?? 0) > now()) return 'known_unknown';
      if (!places.take(source.address)) return 'full';
      const found = await ask(request, source, username).finally(() => places.giveBack(source.address));
      if (found) return found;
      forget(key);
      unknown.set(key, now() + UNKNOWN_MS);
      return 'unknown';
    },
  };
}

interface Waiting {
  asked: Asked;
  resolve(found: Found | undefined): void;
  reject(error: unknown): void;
}

/** Reads what an address asks for in sets, one after the other. */
function askInSets(read: InboundPeers['read']): InboundPeers['read'] {
  const inTurn = limiter(AT_ONCE);
  const waitingOf = new Map<string, Waiting[]>();
  /** Whether a number of nobody was among them. */
  const readSet = async (set: Waiting[]) => {
    const found = await Promise.allSettled(set.map(({ asked }) => read(...asked)));
    for (const [at, each] of found.entries())
      if (each.status === 'fulfilled') set[at]!.resolve(each.value);
      else set[at]!.reject(each.reason);
    return found.some((each) => each.status === 'fulfilled' && each.value === undefined);
  };
  const readAll = async (address: string, waiting: Waiting[]) => {
    while (waiting.length > 0) if (await inTurn(address, () => readSet(waiting.splice(0)))) await sleep(GATHER_MS);
    waitingOf.delete(address);
  };
  return (...asked) =>
    new Promise((resolve, reject) => {
      const [, { address }] = asked;
      const waiting = waitingOf.get(address) ?? [];
      waiting.push({ asked, resolve, reject });
      if (waitingOf.has(address)) return;
      waitingOf.set(address, waiting);
      void readAll(address, waiting);
    });
}

const keyOf = (request: SipRequest, { address }: Target, username = '') =>
  JSON.stringify([address, username, ...calledUsers(request)]);

import { promises as dns } from 'node:dns';
import type { Clock } from './clock.ts';

/** Some records, and how many seconds they hold. No records: the name has none of this kind. */
export interface DnsAnswer<Entry> {
  records: Entry[];
  ttlSeconds: number;
}

export interface SrvRecord {
  name: string;
  port: number;
  priority: number;
  weight: number;
}

/** Asks the DNS. Rejects where it gives no answer; a name that doesn't exist is an empty answer. */
export interface Resolver {
  srv(name: string): Promise<DnsAnswer<SrvRecord>>;
  addresses(name: string, family: 4 | 6): Promise<DnsAnswer<string>>;
}

/** Node tells no TTL of SRV records, and none of what the hosts file says. */
const ASSUMED_TTL_SECONDS = 60;
const absent = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL_NXDOMAIN']);

/** The DNS of the machine. Names that it doesn't know, and those without a dot, are looked up as the machine does, so that its hosts file counts. */
export const systemResolver: Resolver = {
  async srv(name) {
    try {
      return { records: await dns.resolveSrv(name), ttlSeconds: ASSUMED_TTL_SECONDS };
    } catch (error) {
      return emptyWhereAbsent(error);
    }
  },
  async addresses(name, family) {
    if (name.includes('.')) {
      try {
        const found = await (family === 4 ? dns.resolve4(name, { ttl: true }) : dns.resolve6(name, { ttl: true }));
        const records = found.map(({ address }) => address);
        if (records.length > 0) return { records, ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)) };
      } catch {
        // The look-up below says whether there is such a name.
      }
    }
    try {
      const found = await dns.lookup(name, { family, all: true });
      return { records: found.map(({ address }) => address), ttlSeconds: ASSUMED_TTL_SECONDS };
    } catch (error) {
      return emptyWhereAbsent(error);
    }
  },
};

function emptyWhereAbsent(error: unknown): DnsAnswer<never> {
  if (absent.has((error as NodeJS.ErrnoException).code ?? '')) return { records: [], ttlSeconds: ASSUMED_TTL_SECONDS };
  throw error;
}

const MAX_ENTRIES = 1000;
const SHORTEST_MS = 1000;
const LONGEST_MS = 3600_000;
/** What is missing may come soon. */
const LONGEST_ABSENT_MS = 30_000;

/** Keeps answers for as long as they hold, an hour at most, and asks once where many want to know. Refusals are not kept. */
export function cachedResolver(resolver: Resolver, clock: Clock): Resolver {
  const known = new Map<string, { until: number; answer: Promise<DnsAnswer<unknown>> }>();
  const cached = <Entry>(key: string, ask: () => Promise<DnsAnswer<Entry>>): Promise<DnsAnswer<Entry>> => {
    const entry = known.get(key);
    if (entry && entry.until > clock.now()) return entry.answer as Promise<DnsAnswer<Entry>>;
    if (known.size >= MAX_ENTRIES) known.delete(known.keys().next().value!);
    const asked = { until: Number.POSITIVE_INFINITY, answer: ask() };
    known.delete(key);
    known.set(key, asked);
    asked.answer.then(
      ({ records, ttlSeconds }) => {
        const longest = records.length > 0 ? LONGEST_MS : LONGEST_ABSENT_MS;
        asked.until = clock.now() + Math.min(Math.max(ttlSeconds * 1000, SHORTEST_MS), longest);
      },
      () => known.get(key) === asked && known.delete(key),
    );
    return asked.answer;
  };
  return {
    srv: (name) => cached(`srv ${name}`, () => resolver.srv(name)),
    addresses: (name, family) => cached(`${family} ${name}`, () => resolver.addresses(name, family)),
  };
}

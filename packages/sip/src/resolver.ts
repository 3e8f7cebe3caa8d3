import { promises as dns, type LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
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
/** How long a name server has for its answer, the second time twice as long. */
const TRY_MS = 1000;
const TRIES = 2;
const absent = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL_NXDOMAIN']);

const silent = new Set(['ETIMEOUT', 'ESERVFAIL']);

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? '';

/** `getaddrinfo` has a thread of the process wait, of which there are four, and can't be ended. */
const LOOK_UPS_AT_ONCE = 2;
/** How long a name is waited for, with its turn. */
const LOOK_UP_MS = 4000;

type LookUp = (name: string, family: 4 | 6) => Promise<LookupAddress[]>;

/** Looks up so many names at a time; one that takes too long keeps its thread, and nobody waits for it. */
function inTurns(lookUp: LookUp): LookUp {
  const waiting = new Set<() => void>();
  let underWay = 0;
  const next = () => {
    const [begin] = waiting;
    if (begin && underWay < LOOK_UPS_AT_ONCE) begin();
  };
  return (name, family) =>
    new Promise((resolve, reject) => {
      const begin = () => {
        waiting.delete(begin);
        underWay += 1;
        const over = () => {
          clearTimeout(timer);
          underWay -= 1;
          next();
        };
        lookUp(name, family).then(resolve, reject).finally(over);
      };
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(Object.assign(new Error(`ETIMEOUT ${name}`), { code: 'ETIMEOUT' }));
      }, LOOK_UP_MS);
      waiting.add(begin);
      next();
    });
}

const systemLookUp = inTurns((name, family) => dns.lookup(name, { family, all: true }));

/** The addresses that a hosts file gives a name. */
async function inHostsFile(file: string, name: string, family: 4 | 6): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    return isIP(address) === family && names.includes(name.toLowerCase()) ? [address] : [];
  });
}

/**
 * The DNS of the machine, and its hosts file for names that it doesn't know. Only names without a dot are looked up as the
 * machine does, with its search domains: whose name server is silent would else stop all others.
 * @param standIns for tests: name servers, the hosts file, and how the machine looks up a name
 */
export function createSystemResolver(
  standIns: { servers?: readonly string[]; hostsFile?: string; lookUp?: LookUp } = {},
): Resolver {
  const { servers, hostsFile = '/etc/hosts' } = standIns;
  const lookUp = standIns.lookUp ? inTurns(standIns.lookUp) : systemLookUp;
  const resolver = new dns.Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const inDns = async (name: string, family: 4 | 6): Promise<DnsAnswer<string>> => {
    const ttl = { ttl: true } as const;
    const found = await (family === 4 ? resolver.resolve4(name, ttl) : resolver.resolve6(name, ttl));
    return { records: found.map(({ address }) => address), ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)) };
  };
  return {
    async srv(name) {
      try {
        return { records: await resolver.resolveSrv(name), ttlSeconds: ASSUMED_TTL_SECONDS };
      } catch (error) {
        return emptyWhereAbsent(error);
      }
    },
    async addresses(name, family) {
      try {
        if (name.includes('.')) return await inDns(name, family);
        const found = await lookUp(name, family);
        return { records: found.map(({ address }) => address), ttlSeconds: ASSUMED_TTL_SECONDS };
      } catch (error) {
        if (silent.has(codeOf(error))) throw error;
        const records = await inHostsFile(hostsFile, name, family);
        return records.length > 0 ? { records, ttlSeconds: ASSUMED_TTL_SECONDS } : emptyWhereAbsent(error);
      }
    },
  };
}

/** Such a resolver, for a program that needs no other. */
export const systemResolver: Resolver = createSystemResolver();

function emptyWhereAbsent(error: unknown): DnsAnswer<never> {
  if (absent.has(codeOf(error))) return { records: [], ttlSeconds: ASSUMED_TTL_SECONDS };
  throw error;
}

const MAX_ENTRIES = 1000;
const SHORTEST_MS = 1000;
const LONGEST_MS = 3600_000;
/** What is missing may come soon, and a name server that is silent may answer again. */
const LONGEST_ABSENT_MS = 30_000;
const REFUSED_MS = 5000;

/** Keeps answers for as long as they hold, an hour at most, and asks once where many want to know. Refusals are kept shortly. */
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
      () => {
        asked.until = clock.now() + REFUSED_MS;
      },
    );
    return asked.answer;
  };
  return {
    srv: (name) => cached(`srv ${name}`, () => resolver.srv(name)),
    addresses: (name, family) => cached(`${family} ${name}`, () => resolver.addresses(name, family)),
  };
}

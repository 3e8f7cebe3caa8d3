import { promises as dns } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

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
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? '';
const emptyAnswer: DnsAnswer<never> = { records: [], ttlSeconds: ASSUMED_TTL_SECONDS };

/** Addresses by their names in lower case. */
type Hosts = Map<string, string[]>;

async function readHosts(file: string): Promise<Hosts> {
  const hosts: Hosts = new Map();
  const text = await readFile(file, 'utf8').catch(() => '');
  for (const line of text.toLowerCase().split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of new Set(names)) hosts.set(name, [...(hosts.get(name) ?? []), address]);
  }
  return hosts;
}

/** What a hosts file says, read again where it has changed: some have a hundred thousand lines. */
function watchHosts(file: string): () => Promise<Hosts> {
  let hosts: Promise<Hosts> | undefined;
  let stamp = '';
  return async () => {
    const found = await stat(file).catch(() => undefined);
    const now = `${found?.ino} ${found?.mtimeMs} ${found?.size}`;
    if (now !== stamp || !hosts) hosts = readHosts(file);
    stamp = now;
    return hosts;
  };
}

/**
 * What a name stands for, in the order in which the machine asks (resolv.conf(5)): one with fewer dots than `ndots` first
 * in its search domains, any other first as it is. A dot at the end says that it is whole.
 */
async function inSearchDomains(file: string, name: string): Promise<string[]> {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const text = await readFile(file, 'utf8').catch(() => '');
  const last = text.match(/^(?:search|domain)[ \t].*/gm)?.at(-1);
  const [, ...domains] = last?.trim().split(/\s+/) ?? [];
  const longer = domains.filter((domain) => domain !== '.').map((domain) => `${name}.${domain}`);
  const options = text.match(/^options[ \t].*/gm)?.join(' ') ?? '';
  const ndots = Number([...options.matchAll(/\bndots:(\d{1,2})\b/g)].at(-1)?.[1] ?? 1);
  return name.split('.').length > ndots ? [name, ...longer] : [...longer, name];
}

/**
 * The machine's hosts file and its DNS, asked without `getaddrinfo`: that would have one of the few threads of the process
 * wait for each name.
 * @param standIns for tests: name servers, and the machine's files
 */
export function createSystemResolver(
  standIns: { servers?: readonly string[]; hostsFile?: string; resolvFile?: string } = {},
): Resolver {
  const { servers, hostsFile = '/etc/hosts', resolvFile = '/etc/resolv.conf' } = standIns;
  const hosts = watchHosts(hostsFile);
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
      const own = (await hosts()).get(name.toLowerCase()) ?? [];
      if (own.length > 0)
        return { records: own.filter((each) => isIP(each) === family), ttlSeconds: ASSUMED_TTL_SECONDS };
      let fault: unknown;
      for (const each of await inSearchDomains(resolvFile, name)) {
        const { records, ttlSeconds } = await inDns(each, family).catch((error) => {
          if (codeOf(error) !== 'ESERVFAIL') return emptyWhereAbsent(error);
          // As the machine does: another domain may have it.
          fault = error;
          return emptyAnswer;
        });
        if (records.length > 0) return { records, ttlSeconds };
      }
      if (fault) throw fault;
      return emptyAnswer;
    },
  };
}

/** Such a resolver, for a program that needs no other. */
export const systemResolver: Resolver = createSystemResolver();

function emptyWhereAbsent(error: unknown): DnsAnswer<never> {
  if (absent.has(codeOf(error))) return emptyAnswer;
  throw error;
}

import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { type Limiter, limiter } from '../values/limiter.ts';

/** Names that customers give, looked up so that none holds up another, whatever its name server does. */
export interface Names {
  /**
   * Every address of a name.
   * @param key who asks, such as a workspace
   * @throws what the DNS answers: `ENOTFOUND` where the name has no address, `ETIMEOUT`, `ESERVFAIL` …
   */
  resolve(hostname: string, key: string): Promise<LookupAddress[]>;
  /** How many names are being asked for. */
  questions: Limiter;
}

/** How many names are asked for at a time; one workspace alone has half of them. */
const MOST_QUESTIONS = 128;
/** How long a name server has for its answer, the second time twice as long. */
const TRY_MS = 1000;
const TRIES = 2;
/** With several name servers in the settings of the machine each has its tries; no name waits for longer than this. */
const LONGEST_MS = 4000;
/** For how long a name that had no address is not asked for again. */
const FAILED_MS = 5000;
const MOST_FAILED = 10_000;

/**
 * The DNS of the machine, asked by c-ares: `getaddrinfo` would have one of the few threads of the process wait for each
 * name, and files and compression with it. It knows no hosts file and no search domains.
 * @param servers stand in for the machine's name servers in tests
 */
export function createNames(servers?: readonly string[]): Names {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const questions = limiter(MOST_QUESTIONS);
  /** By name: one question at a time, whoever wants to know. By who asks and name: those whose turn has not come. */
  const asked = new Map<string, Promise<LookupAddress[]>>();
  const waiting = new Map<string, Promise<LookupAddress[]>>();
  const failed = new Map<string, { error: unknown; until: number }>();

  const fail = (name: string, error: unknown) => {
    failed.delete(name);
    failed.set(name, { error, until: performance.now() + FAILED_MS });
    if (failed.size > MOST_FAILED) failed.delete(failed.keys().next().value!);
  };
  /** Keeps a promise while it is open. */
  const kept = <T>(of: Map<string, Promise<T>>, key: string, promise: Promise<T>): Promise<T> => {
    of.set(key, promise);
    promise.catch(() => undefined).finally(() => of.delete(key));
    return promise;
  };
  const ask = async (name: string): Promise<LookupAddress[]> => {
    const before = failed.get(name);
    if (before && before.until > performance.now()) throw before.error;
    return addressesOf(resolver, name).catch((error) => {
      fail(name, error);
      throw error;
    });
  };
  const once = (name: string) => asked.get(name) ?? kept(asked, name, inTime(ask(name), name));
  return {
    questions,
    resolve: async (hostname, key) => {
      const name = hostname.toLowerCase();
      const place = `${key} ${name}`;
      const same = asked.get(name) ?? waiting.get(place);
      return same ?? kept(waiting, place, questions(key, () => once(name)) as Promise<LookupAddress[]>);
    },
  };
}

/** IPv4 first: where there is no IPv6, a connection would fail at first. One that only one family has is known. */
async function addressesOf(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length > 0) return found;
  const errors = [four, six].flatMap((each) =>
    each.status === 'rejected' ? [each.reason as NodeJS.ErrnoException] : [],
  );
  throw errors.find(({ code }) => code !== 'ENODATA' && code !== 'ENOTFOUND') ?? lookupError('ENOTFOUND', name);
}

function inTime<T>(promise: Promise<T>, name: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(lookupError('ETIMEOUT', name)), LONGEST_MS);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const lookupError = (code: string, name: string) => Object.assign(new Error(`${code} ${name}`), { code });

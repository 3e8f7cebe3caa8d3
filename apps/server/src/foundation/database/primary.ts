import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { withDeadline } from '../values/deadline.ts';
import { hostsOf } from '../values/postgres-hosts.ts';

/** A host that doesn't say what it is within this time, in milliseconds, is not the primary. */
const ASK_MS = 3000;
/** The last primary is asked so long before the others, in milliseconds. A machine that is dead costs no more than that. */
const AHEAD_MS = 500;

/** None of several hosts is the primary, as while a standby is being promoted. The message says why for each. */
export class NoPrimary extends Error {
  readonly code = 'ENOPRIMARY';
}

/** A host that `pg` connects to. */
export interface Host {
  host: string;
  port: number;
}

/** Which of several hosts is the primary, the one that takes writes. A process remembers the last. */
export interface Primary {
  /** Asks the last one, and the others beside each other where that is gone. Throws `NoPrimary`, or what all refuse it with. */
  find(): Promise<Host>;
  /** Has `end` called if another host becomes the primary. Returns what forgets that. */
  whenLeft(host: Host, end: () => void): () => void;
}

const known = new Map<string, Primary>();

/** The same for all connections of this process to the same hosts. */
export function primaryOf(connectionString: string): Primary {
  const found = known.get(connectionString) ?? createPrimary(hostsOf(connectionString));
  known.set(connectionString, found);
  return found;
}

function createPrimary(urls: string[]): Primary {
  const bound = new Map<() => void, Host>();
  let last: Host | undefined;
  let looking: Promise<Host> | undefined;

  async function look(): Promise<Host> {
    const clients = urls.map((connectionString) => newClient(connectionString));
    const before = clients.find((client) => last && isSame(client, last));
    const first = before && ask(before);
    const asOthers = async (client: pg.Client) => {
      const isFound = first && (await Promise.race([first.then(...bothWays), sleep(AHEAD_MS)]));
      if (isFound) throw new Error('it was not asked');
      return ask(client);
    };
    const asked = clients.map((client) => (client === before ? first! : asOthers(client)));
    const { host, port } = await Promise.any(asked).catch(({ errors }: AggregateError) => {
      throw faultOf(clients, errors);
    });
    const found = { host, port };
    const isNew = last && !isSame(last, found);
    last = found;
    if (isNew) for (const [end, at] of bound) if (!isSame(at, found)) end();
    return found;
  }

  return {
    find: () => {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    whenLeft: (host, end) => {
      bound.set(end, host);
      return () => bound.delete(end);
    },
  };
}

const bothWays = [() => true, () => false] as const;

const isSame = (one: Host, other: Host) => one.host === other.host && one.port === other.port;

const newClient = (connectionString: string) =>
  new pg.Client({ connectionString, connectionTimeoutMillis: ASK_MS, application_name: 'trunkline' }).on(
    'error',
    () => {},
  );

/** Resolves to the client, closed, if it leads to a primary. */
async function ask(client: pg.Client): Promise<Host> {
  try {
    const { rows } = await withDeadline(ASK_MS, async () => {
      await client.connect();
      return client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
    });
    if (rows[0]!.standby) throw new Error('it is a standby');
    return client;
  } finally {
    client.end().catch(() => {});
  }
}

/** What all of them refuse alike is told by the first; waiting would not help. */
function faultOf(hosts: Host[], faults: Error[]): Error {
  const isRefused = (fault: Error) => fault instanceof pg.DatabaseError && !fault.code?.startsWith('57P');
  if (faults.every(isRefused)) return faults[0]!;
  const each = hosts.map(({ host, port }, at) => `${host}:${port}: ${faults[at]!.message}`);
  return new NoPrimary(`none of its hosts is the primary (${each.join('; ')})`);
}

import type { Socket } from 'node:net';
import pg from 'pg';
import type { Logger } from 'pino';
import { hostsOf } from '../values/postgres-hosts.ts';
import { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { ASK_MS, LOOK_MS, SILENCE_MS, SILENCE_OF_SEVERAL_MS } from './silence-limits.ts';

/**
 * Ends connections that wait for a database which is not there any more. A machine or a network that goes without a word
 * leaves them open, and the kernel gives them up after a quarter of an hour only.
 */
export interface SilenceWatch {
  /** To be called once, before the client is used. Throws where the connection is lost. */
  meets(client: pg.ClientBase): Promise<void>;
  /** The client waits for the database from now on. */
  waits(client: pg.ClientBase): void;
  /** It waits no more. */
  rests(client: pg.ClientBase): void;
  /** It waits until `act` is over. */
  during<T>(client: pg.ClientBase, act: () => Promise<T>): Promise<T>;
  close(): void;
}

interface Heard {
  bytes: number;
  at: number;
}

/**
 * A statement that takes long is at work, and what waits for its client was sent or asked for in vain. The answer of one
 * that has just ended is still on its way.
 */
const workingAmong = `select pid from pg_stat_activity where pid = any($1)
  and (state not like 'idle%' and wait_event_type is distinct from 'Client'
    or state_change > clock_timestamp() - make_interval(secs => $2))`;

const streamOf = (client: pg.ClientBase) => (client as pg.Client).connection.stream as Socket;

/**
 * Looks every five seconds at the clients that wait. Over one that has heard nothing for thirty (ten if there are several hosts), a new connection asks whether
 * PostgreSQL still works for it; where it does not, or nobody answers for ten seconds, the client's socket is destroyed: what
 * it has asked fails as on any connection that is lost. A look costs a comparison for each client, and a query nothing.
 * @param onEnded called with how many were ended at once
 */
export function watchSilence(connection: Connection, onEnded: (clients: number) => void): SilenceWatch {
  const silenceMs = hostsOf(connection.connectionString).length > 1 ? SILENCE_OF_SEVERAL_MS : SILENCE_MS;
  const waiting = new Map<pg.ClientBase, Heard>();
  const pids = new WeakMap<pg.ClientBase, number>();
  const waits = (client: pg.ClientBase) => void waiting.set(client, { bytes: -1, at: 0 });
  const rests = (client: pg.ClientBase) => void waiting.delete(client);
  const during = <T>(client: pg.ClientBase, act: () => Promise<T>): Promise<T> => {
    waits(client);
    return act().finally(() => rests(client));
  };
  // What a client was told of as it connected is another's where a pooler stands between.
  const pidOf = (client: pg.ClientBase) => pids.get(client) ?? (client as unknown as { processID: number }).processID;

  const silentOnes = () => {
    const now = performance.now();
    return [...waiting].filter(([client, heard]) => {
      const bytes = streamOf(client).bytesRead;
      if (bytes === heard.bytes) return now - heard.at >= silenceMs;
      Object.assign(heard, { bytes, at: now });
      return false;
    });
  };

  const look = async () => {
    const silent = silentOnes();
    if (silent.length === 0) return;
    const working = await askFor(
      connection,
      silent.map(([client]) => pidOf(client)),
    );
    const now = performance.now();
    let ended = 0;
    for (const [client, heard] of silent) {
      if (waiting.get(client) !== heard || streamOf(client).bytesRead !== heard.bytes) continue;
      heard.at = now;
      if (working.has(pidOf(client))) continue;
      streamOf(client).destroy(new Error('Connection terminated: nothing came over it, and nobody works for it'));
      ended += 1;
    }
    if (ended > 0) onEnded(ended);
  };

  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look().finally(() => {
      looking = false;
    });
  }, LOOK_MS);
  timer.unref();
  return {
    meets: async (client) => {
      const { rows } = await during(client, () => client.query<{ pid: number }>('select pg_backend_pid() as pid'));
      pids.set(client, rows[0]!.pid);
    },
    waits,
    rests,
    during,
    close: () => clearInterval(timer),
  };
}

/** Watches every client of a pool while it is in use, and while the pool's `onConnect` is. To be closed after the pool. */
export function watchPool(
  pool: pg.Pool,
  { connection, log }: { connection: Connection; log: Logger },
): Pick<SilenceWatch, 'close'> {
  const watch = watchSilence(connection, (connections) =>
    log.warn({ connections }, 'database connections were given up: nothing came over them'),
  );
  const { onConnect } = pool.options;
  pool.options.onConnect = async (client) => {
    await watch.meets(client);
    await watch.during(client, async () => onConnect?.(client));
  };
  pool.on('acquire', watch.waits);
  pool.on('release', (_error, client) => watch.rests(client));
  return watch;
}

/** Why nobody was asked: the name servers fail, or this process may open nothing more. It says nothing of the database. */
const unasked = new Set(['EAI_AGAIN', 'EMFILE', 'ENFILE']);

/** The backends among these that PostgreSQL works in: all of them where it is there and refuses to say, or could not be asked. */
async function askFor(connection: Connection, pids: number[]): Promise<Set<number>> {
  const client = new Client({
    ...connection,
    connectionTimeoutMillis: ASK_MS,
    query_timeout: ASK_MS,
    application_name: 'trunkline',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(workingAmong, [pids, LOOK_MS / 1000]);
    return new Set(rows.map(({ pid }) => pid));
  } catch (error) {
    const isUnknown = error instanceof pg.DatabaseError || unasked.has((error as NodeJS.ErrnoException).code ?? '');
    return new Set(isUnknown ? pids : []);
  } finally {
    client.end().catch(() => {});
  }
}

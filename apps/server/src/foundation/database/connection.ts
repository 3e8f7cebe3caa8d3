import { hostsOf, partsOf } from '../values/postgres-hosts.ts';

/**
 * Where a database is: a PostgreSQL URL, which may name a socket's folder as its host (`%2Frun%2F…`), or several hosts by
 * commas, of which one is the primary.
 */
export interface Connection {
  connectionString: string;
  /** Its backends are processes of this machine, and of this user where that isn't root. */
  isEmbedded?: true;
}

/** The same hosts, with another part of the URL changed. */
export function changed(connection: Connection, change: (url: URL) => void): Connection {
  const { connectionString } = connection;
  const url = new URL(hostsOf(connectionString)[0]!);
  change(url);
  const [before, , behind] = partsOf(url.href);
  return { ...connection, connectionString: `${before}${partsOf(connectionString)[1]}${behind}` };
}

/** The same server and role, another database. */
export const withDatabase = (connection: Connection, database: string): Connection =>
  changed(connection, (url) => {
    url.pathname = `/${database}`;
  });

import { hostsOf, partsOf } from '../values/postgres-hosts.ts';

/**
 * Where a database is: a PostgreSQL URL, which may name a socket's folder as its host (`%2Frun%2F…`), or several hosts by
 * commas, of which one is the primary.
 */
export interface Connection {
  connectionString: string;
}

/** The same hosts, with another part of the URL changed. */
export function changed({ connectionString }: Connection, change: (url: URL) => void): Connection {
  const url = new URL(hostsOf(connectionString)[0]!);
  change(url);
  const [before, , behind] = partsOf(url.href);
  return { connectionString: `${before}${partsOf(connectionString)[1]}${behind}` };
}

/** The same server and role, another database. */
export const withDatabase = (connection: Connection, database: string): Connection =>
  changed(connection, (url) => {
    url.pathname = `/${database}`;
  });

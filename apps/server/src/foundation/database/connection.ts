/** Where a database is: a PostgreSQL URL, which may name a socket's folder as its host (`%2Frun%2F…`). */
export interface Connection {
  connectionString: string;
}

/** The same server and role, another database. */
export function withDatabase({ connectionString }: Connection, database: string): Connection {
  const url = new URL(connectionString);
  url.pathname = `/${database}`;
  return { connectionString: url.href };
}

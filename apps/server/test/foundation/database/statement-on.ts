import pg from 'pg';
import type { Connection } from '../../../src/foundation/database/connection.ts';

/** Runs one statement on a connection of its own, as `create database` needs. */
export async function statementOn(connection: Connection, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client(connection);
  // A server that dies between two messages is an event; the query's promise tells of it too.
  client.on('error', () => {});
  await client.connect();
  return client.query(text).finally(() => client.end());
}

/** Whom a connection is made as. */
export const roleOf = ({ connectionString }: Connection): string => new URL(connectionString).username;

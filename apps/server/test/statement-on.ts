import pg from 'pg';
import type { Connection } from '../src/database/connection.ts';

/** Runs one statement on a connection of its own, as `create database` needs. */
export async function statementOn(connection: Connection, text: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(text).finally(() => client.end());
}

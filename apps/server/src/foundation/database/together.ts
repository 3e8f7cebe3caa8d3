import type { Kysely } from 'kysely';
import type pg from 'pg';
import type { Schema } from './schema.ts';

interface Statement<R> {
  execute(db: Kysely<Schema>): Promise<R>;
}

/**
 * Sends statements of a transaction together: they run in this order on its one connection, and go out in one write
 * without waiting for each other's answers. A function may stand for a statement: what it asks before it first waits goes
 * out with the others, in its place.
 *
 * @param statements of Kysely's `sql`, or functions
 * @returns the answers in the order of the statements; it throws what the first that fails throws
 */
export function together<T extends readonly unknown[]>(
  { db }: { db: Kysely<Schema> },
  statements: readonly [...{ [K in keyof T]: Statement<T[K]> | (() => Promise<T[K]>) }],
): Promise<T> {
  const sent = statements.map((each) => (typeof each === 'function' ? each() : each.execute(db)));
  return Promise.all(sent) as Promise<unknown> as Promise<T>;
}

/** Has what a connection is asked in this turn of the event loop go out in one write, which costs more than all else of it. */
export function inOneWrite(client: pg.ClientBase): void {
  const { stream } = (client as pg.Client).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

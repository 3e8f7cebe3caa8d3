import { CompiledQuery, type Kysely, type QueryResult } from 'kysely';
import type { Database, EngineTx } from '../../src/foundation/database/database.ts';
import type { Schema } from '../../src/foundation/database/schema.ts';

interface Plan {
  'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }];
}

/** A statement that was sent, and the buffers that it touched. */
export interface StatementCost {
  text: string;
  buffers: number;
}

/** Runs something on the database, and measures each statement of its transactions: it runs twice, the first time undone. */
export async function statementCosts(
  database: Database,
  run: (database: Database) => Promise<unknown>,
): Promise<StatementCost[]> {
  const costs: StatementCost[] = [];
  const measuring =
    (transaction: Database['inHotLoop']): Database['inHotLoop'] =>
    (fn) =>
      transaction((tx) => fn({ ...tx, db: measured(tx.db, costs) } as EngineTx));
  await run({ ...database, inEngine: measuring(database.inEngine), inHotLoop: measuring(database.inHotLoop) });
  return costs;
}

/** Runs something on the database, and counts how often its transactions have waited for answers before they asked on. */
export async function roundTripsOf(database: Database, run: (database: Database) => Promise<unknown>): Promise<number> {
  let trips = 0;
  let unanswered = 0;
  const counted = (db: Kysely<Schema>): Kysely<Schema> =>
    withQueries(db, async (query, send) => {
      if (unanswered === 0) trips += 1;
      unanswered += 1;
      return send(query).finally(() => {
        unanswered -= 1;
      });
    });
  await run({ ...database, inHotLoop: (fn) => database.inHotLoop((tx) => fn({ ...tx, db: counted(tx.db) })) });
  return trips;
}

/** One statement after the other: what was sent together would get between a statement and what measures it. */
function measured(db: Kysely<Schema>, costs: StatementCost[]): Kysely<Schema> {
  let before: Promise<unknown> = Promise.resolve();
  return withQueries(db, (query, send) => {
    const measuredQuery = before.then(async () => {
      const explain = `explain (analyze, buffers, format json) ${query.sql}`;
      await send(CompiledQuery.raw('savepoint measured'));
      const { rows } = await send(CompiledQuery.raw(explain, [...query.parameters]));
      await send(CompiledQuery.raw('rollback to savepoint measured'));
      const { Plan: plan } = (rows as Plan[])[0]!['QUERY PLAN'][0];
      costs.push({ text: query.sql, buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] });
      return send(query);
    });
    before = measuredQuery.catch(() => {});
    return measuredQuery;
  });
}

type Send = (query: CompiledQuery) => Promise<QueryResult<unknown>>;

/** The same way to the database, with something done around each query. */
function withQueries(
  db: Kysely<Schema>,
  around: (query: CompiledQuery, send: Send) => Promise<QueryResult<unknown>>,
): Kysely<Schema> {
  const executor = db.getExecutor();
  const send: Send = (query) => executor.executeQuery(query);
  const replaced = <T extends object>(target: T, name: string, value: unknown): T =>
    new Proxy(target, {
      get: (from, key) => {
        if (key === name) return value;
        const found = Reflect.get(from, key, from) as unknown;
        return typeof found === 'function' ? found.bind(from) : found;
      },
    });
  const replacing = replaced(executor, 'executeQuery', (query: CompiledQuery) => around(query, send));
  return replaced(db, 'getExecutor', () => replacing);
}

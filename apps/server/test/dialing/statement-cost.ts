import { CompiledQuery, type Kysely } from 'kysely';
import type { Database, EngineTx } from '../../src/database/database.ts';
import type { Schema } from '../../src/database/schema.ts';

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

/** One statement after the other: what was sent together would get between a statement and what measures it. */
function measured(db: Kysely<Schema>, costs: StatementCost[]): Kysely<Schema> {
  let before: Promise<unknown> = Promise.resolve();
  const executor = db.getExecutor();
  const executeQuery: typeof executor.executeQuery = <R>(query: CompiledQuery<R>) => {
    const measuredQuery = before.then(async () => {
      const explain = `explain (analyze, buffers, format json) ${query.sql}`;
      await executor.executeQuery(CompiledQuery.raw('savepoint measured'));
      const { rows } = await executor.executeQuery<Plan>(CompiledQuery.raw(explain, [...query.parameters]));
      await executor.executeQuery(CompiledQuery.raw('rollback to savepoint measured'));
      const { Plan: plan } = rows[0]!['QUERY PLAN'][0];
      costs.push({ text: query.sql, buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] });
      return executor.executeQuery<R>(query);
    });
    before = measuredQuery.catch(() => {});
    return measuredQuery;
  };
  const replaced = <T extends object>(target: T, name: string, value: unknown): T =>
    new Proxy(target, {
      get: (from, key) => {
        if (key === name) return value;
        const found = Reflect.get(from, key, from) as unknown;
        return typeof found === 'function' ? found.bind(from) : found;
      },
    });
  const measuredExecutor = replaced(executor, 'executeQuery', executeQuery);
  return replaced(db, 'getExecutor', () => measuredExecutor);
}

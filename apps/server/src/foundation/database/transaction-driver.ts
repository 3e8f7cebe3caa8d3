import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type pg from 'pg';
import { isRefusedForFault, translated } from './errors.ts';
import type { Schema } from './schema.ts';
import type { Statement } from './statements.ts';
import { inOneWrite } from './together.ts';

const changing = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);
const adapter = new PostgresAdapter();
const compiler = new PostgresQueryCompiler();
const dialect: Dialect = {
  createAdapter: () => adapter,
  createDriver: () => {
    throw new Error('A transaction has its driver already.');
  },
  createIntrospector: (kysely) => new PostgresIntrospector(kysely),
  createQueryCompiler: () => compiler,
};

/**
 * A Kysely whose every query runs on one client, one after another. `close` makes it refuse more, and resolves when the
 * last query is over; `hasFailed` says whether any has failed. The client is one that pipelines; `statement` is that of its
 * database.
 */
export function bindToClient(
  client: pg.ClientBase,
  statement: Statement,
): { db: Kysely<Schema>; close(): Promise<unknown>; hasFailed(): boolean } {
  let open = true;
  let last: Promise<unknown> = Promise.resolve();
  /** Why the transaction has failed: what was sent behind that is refused for it, and would hide it. */
  let fault: unknown;

  const connection: DatabaseConnection = {
    executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      if (!open) return Promise.reject(new Error('A query came after the end of its transaction.'));
      const result = execute<R>(client, query, statement).catch((error) => {
        if (isRefusedForFault(error) && fault !== undefined) throw fault;
        fault = error;
        throw error;
      });
      last = result.catch(() => {});
      return result;
    },
    streamQuery: () => {
      throw new Error('Streaming is not supported in a transaction.');
    },
  };
  const refuse = async () => {
    throw new Error('A transaction is open already.');
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  };
  // Kysely would put a driver of its own around this one, which takes turns for a connection that is taken already.
  const executor = new DefaultQueryExecutor(compiler, adapter, {
    provideConnection: (consumer) => consumer(connection),
  });
  const db = new Kysely<Schema>({ config: { dialect }, dialect, driver, executor });
  return {
    db,
    close: () => {
      open = false;
      return last;
    },
    hasFailed: () => fault !== undefined,
  };
}

async function execute<R>(client: pg.ClientBase, query: CompiledQuery, statement: Statement): Promise<QueryResult<R>> {
  try {
    inOneWrite(client);
    const { command, rowCount, rows } = await client.query(statement(query.sql), [...query.parameters]);
    return changing.has(command) ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows };
  } catch (error) {
    throw translated(error);
  }
}

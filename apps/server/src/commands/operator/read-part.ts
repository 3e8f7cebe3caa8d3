import { sql } from 'kysely';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import { withDeadline } from '../../foundation/values/deadline.ts';

/** So long a statement may take, and a part with all that it waits for, in milliseconds: who asks at night can't wait. */
const LONGEST_STATEMENT_MS = 2000;
export const LONGEST_MS = 3000;

/** Reads a part of the status, of all workspaces. Throws where the database does not answer in time. */
export const readPart = <T>(database: Pick<Database, 'inEngine'>, read: (tx: EngineTx) => Promise<T>): Promise<T> =>
  withDeadline(LONGEST_MS, () =>
    database.inEngine(async (tx) => {
      await sql`set local statement_timeout = ${sql.lit(LONGEST_STATEMENT_MS)}`.execute(tx.db);
      return read(tx);
    }),
  );

import { sql } from 'kysely';
import type { CallStore } from '../../dialing/calls/store.ts';
import { connectionShares } from '../../foundation/database/connection-shares.ts';
import type { Database } from '../../foundation/database/database.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { isE164 } from '../../foundation/values/e164.ts';
import { ok } from '../../foundation/values/success.ts';
import { findHits } from './find-hits.ts';
import { readSearchText } from './search-text.ts';

/** What the search works with. */
export interface SearchDeps {
  database: Database;
  calls: CallStore;
  /** Reads a number as people write it, as a contact file's. */
  readPhoneNumber: (text: string, defaultCountry?: string) => { digits: number } | { code: string; reason: string };
}

/** So many searches are under way in a server at a time, and one of a workspace: each keeps a core of the database busy. */
const AT_ONCE = 2;
const WAIT_MS = 3000;
/** So long a statement of one may take, since others wait for their turn, in milliseconds. */
const LONGEST_STATEMENT_MS = 3000;
const TOO_SLOW = 'Searches are slow just now. Try again in a moment.';

/** The operation of the tag "Search". */
export function searchOperations({ database, calls, readPhoneNumber }: SearchDeps) {
  const { inTurn } = connectionShares(AT_ONCE, WAIT_MS);
  return {
    search: async ({ query }, { workspaceId, key: { permissions } }) => {
      const readNumber = (written: string) => {
        if (isE164(written)) return Number(written.slice(1));
        const read = readPhoneNumber(written, query.defaultCountry);
        return 'code' in read ? undefined : read.digits;
      };
      const search = {
        text: readSearchText(query.query, readNumber),
        mayRead: (permission: string) => permissions.includes(permission) || permissions.includes('*'),
        calls,
      };
      const find = () =>
        database.inSnapshot(workspaceId, async (tx) => {
          await sql`set local statement_timeout = ${sql.lit(LONGEST_STATEMENT_MS)}`.execute(tx.db);
          return findHits(tx, search);
        });
      return ok(await inTurn(workspaceId, find, TOO_SLOW));
    },
  } satisfies Partial<Handlers>;
}

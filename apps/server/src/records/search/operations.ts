import type { Database } from '../../foundation/database/database.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { isE164 } from '../../foundation/values/e164.ts';
import { ok } from '../../foundation/values/success.ts';
import { findHits } from './find-hits.ts';

/** What the search works with. */
export interface SearchDeps {
  database: Database;
  /** Reads a number as people write it, as a contact file's. */
  readPhoneNumber: (text: string, defaultCountry?: string) => { digits: number } | { code: string; reason: string };
}

/** The operation of the tag "Search". */
export function searchOperations({ database, readPhoneNumber }: SearchDeps) {
  return {
    search: async ({ query }, { workspaceId, key: { permissions } }) => {
      const text = query.query.trim();
      const read = isE164(text) ? { digits: Number(text.slice(1)) } : readPhoneNumber(text, query.defaultCountry);
      const asked = {
        text,
        number: 'code' in read ? undefined : read.digits,
        mayRead: (permission: string) => permissions.includes(permission) || permissions.includes('*'),
      };
      return ok({ hits: await database.inSnapshot(workspaceId, (tx) => findHits(tx, asked)) });
    },
  } satisfies Partial<Handlers>;
}

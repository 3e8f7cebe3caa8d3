import type { CallStore } from '../../dialing/calls/store.ts';
import type { SituationTerms } from '../../dialing/campaigns/situation.ts';
import type { Database } from '../../foundation/database/database.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { isE164 } from '../../foundation/values/e164.ts';
import { noNumber } from '../../foundation/values/service-error.ts';
import { ok } from '../../foundation/values/success.ts';
import { readPerson } from './read-person.ts';

/** What the operations work with. */
export interface PeopleDeps extends SituationTerms {
  database: Database;
  clock: Clock;
  calls: CallStore;
  /** Reads a number as people write it, as a contact file's. */
  readPhoneNumber: (text: string, defaultCountry?: string) => { digits: number } | { code: string; reason: string };
}

/** The operations of the tag "People". */
export function peopleOperations({ database, clock, readPhoneNumber, ...terms }: PeopleDeps) {
  return {
    getPerson: async ({ path, query }, { workspaceId, key: { permissions } }) => {
      const { phoneNumber } = path;
      const read = isE164(phoneNumber)
        ? { digits: Number(phoneNumber.slice(1)) }
        : readPhoneNumber(phoneNumber, query.defaultCountry);
      if ('code' in read) throw noNumber(read.reason);
      const asked = {
        number: read.digits,
        now: clock.now(),
        mayRead: (permission: string) => permissions.includes(permission) || permissions.includes('*'),
      };
      return ok(await database.inSnapshot(workspaceId, (tx) => readPerson(tx, asked, terms)));
    },
  } satisfies Partial<Handlers>;
}

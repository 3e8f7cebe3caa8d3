import type { Database } from '../../foundation/database/database.ts';
import { listed } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { isE164 } from '../../foundation/values/e164.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { shown } from '../../foundation/values/judged-items.ts';
import { noNumber, notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { tellOptOuts, type WordGuard } from '../installation/tell-opt-outs.ts';
import { auditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { addOptOuts, type DoNotCallRow, listDoNotCall, raiseDoNotCall, removeOptOut } from './store.ts';

type Rejected = components['schemas']['RejectedDoNotCallNumber'];

/** What the operations work with. */
export interface DoNotCallDeps {
  database: Database;
  clock: Clock;
  /** Ends what is on its way to some numbers, E.164 without the plus, and resolves once nothing of it can leave any more. */
  withdrawCallsTo: (workspaceId: string, numbers: readonly number[], endRinging?: boolean) => Promise<void>;
  guard: WordGuard;
  /** Reads a number as people write it, as a contact file's. */
  readPhoneNumber: (
    text: string,
    defaultCountry?: string,
  ) => { digits: number } | { code: Rejected['code']; reason: string };
}

/** The operations of the tag "Do not call". */
export function doNotCallOperations({ database, clock, withdrawCallsTo, guard, readPhoneNumber }: DoNotCallDeps) {
  return {
    listDoNotCall: async ({ query }, { workspaceId }) => ({
      status: 200,
      body: await listed(database, workspaceId, query, listDoNotCall, present),
    }),

    addDoNotCall: async ({ body }, context) => {
      const { numbers, rejected } = readNumbers(body.phoneNumbers, (text) =>
        readPhoneNumber(text, body.defaultCountry),
      );
      if (numbers.length === 0) throw nothingToAdd(rejected);
      const since = guard.doubts();
      const added = await database.inWorkspace(context.workspaceId, async (tx) => {
        const now = clock.now();
        await raiseDoNotCall(tx);
        const fresh = await addOptOuts(tx, numbers, body.reason, now);
        await audit(
          tx,
          fresh.map((number) => auditOf(context)('do_not_call.added', 'do_not_call', `+${number}`)),
          now,
        );
        return fresh.length;
      });
      await Promise.all([
        withdrawCallsTo(context.workspaceId, numbers, body.endRinging),
        tellOptOuts(guard, context.workspaceId, numbers, { at: clock.now(), since }),
      ]);
      return { status: 200, body: { added, alreadyListed: numbers.length - added, rejected } };
    },

    removeDoNotCall: async ({ path, query }, context) => {
      const read = readNumber(path.phoneNumber, (text) => readPhoneNumber(text, query.defaultCountry));
      if ('code' in read) throw noNumber(reasons[read.code] ?? read.reason);
      await database.inWorkspace(context.workspaceId, async (tx) => {
        const removed = await removeOptOut(tx, read.digits);
        if (removed === undefined) throw notFound();
        await audit(tx, auditOf(context)('do_not_call.removed', 'do_not_call', removed), clock.now());
      });
      return { status: 200, body: { id: `+${read.digits}`, deleted: true } };
    },
  } satisfies Partial<Handlers>;
}

/** What is told otherwise than of a contact file. */
const reasons: { [code in Rejected['code']]?: string } = {
  default_country_needed: 'A number without + and country code can be read only with a defaultCountry, such as US.',
};

/** The numbers among what was sent, each once, and what is none. */
function readNumbers(sent: readonly unknown[], read: (text: string) => ReturnType<DoNotCallDeps['readPhoneNumber']>) {
  const numbers = new Set<number>();
  const rejected: Rejected[] = [];
  for (const [index, value] of sent.entries()) {
    const found = readNumber(value, read);
    if ('digits' in found) numbers.add(found.digits);
    else
      rejected.push({ index, phoneNumber: shown(value), code: found.code, error: reasons[found.code] ?? found.reason });
  }
  return { numbers: [...numbers], rejected };
}

/** One in E.164 need not be in a numbering plan: it may be one day. */
function readNumber(value: unknown, read: (text: string) => ReturnType<DoNotCallDeps['readPhoneNumber']>) {
  if (typeof value !== 'string')
    return { code: 'invalid_entry', reason: 'A number is text, such as "+14155550142".' } as const;
  return isE164(value) ? { digits: digitsOf(value) } : read(value);
}

function nothingToAdd([first]: readonly Rejected[]): ServiceError {
  return new ServiceError('invalid_request', `No number was added. ${first!.phoneNumber}: ${first!.error}`);
}

const digitsOf = (e164: string) => Number(e164.slice(1));

const present = (row: DoNotCallRow) => ({
  phoneNumber: `+${row.phone_number}`,
  source: row.list_id === null ? ('opt_out' as const) : ('list' as const),
  ...(row.reason !== null && { reason: row.reason }),
  ...(row.list_id !== null && { contactListId: toId('list', row.list_id) }),
  createdAt: row.created_at.toISOString(),
});

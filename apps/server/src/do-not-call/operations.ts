import type { components } from '@trunkline/client/schema';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { listed } from '../database/page.ts';
import type { Handlers } from '../http/handler.ts';
import { toId } from '../ids.ts';
import { auditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { shown } from '../judged-items.ts';
import { notFound } from '../service-error.ts';
import { addOptOuts, type DoNotCallRow, listDoNotCall, removeOptOut } from './store.ts';

/** The operations of the tag "Do not call". */
export function doNotCallOperations({ database, clock }: { database: Database; clock: Clock }) {
  return {
    listDoNotCall: async ({ query }, { workspaceId }) => ({
      status: 200,
      body: await listed(database, workspaceId, query, listDoNotCall, present),
    }),

    addDoNotCall: async ({ body }, context) => {
      const { numbers, rejected } = readNumbers(body.phoneNumbers);
      const added = await database.inWorkspace(context.workspaceId, async (tx) => {
        const now = clock.now();
        const fresh = await addOptOuts(tx, numbers, body.reason, now);
        await audit(
          tx,
          fresh.map((number) => auditOf(context)('do_not_call.added', 'do_not_call', `+${number}`)),
          now,
        );
        return fresh.length;
      });
      return { status: 200, body: { added, alreadyListed: numbers.length - added, rejected } };
    },

    removeDoNotCall: async ({ path: { phoneNumber } }, context) => {
      await database.inWorkspace(context.workspaceId, async (tx) => {
        const removed = await removeOptOut(tx, digitsOf(phoneNumber));
        if (removed === undefined) throw notFound();
        await audit(tx, auditOf(context)('do_not_call.removed', 'do_not_call', removed), clock.now());
      });
      return { status: 200, body: { id: phoneNumber, deleted: true } };
    },
  } satisfies Partial<Handlers>;
}

const E164 = /^\+[1-9][0-9]{6,14}$/;

/** The numbers among what was sent, each once, and what is none. */
function readNumbers(sent: readonly unknown[]) {
  const numbers = new Set<number>();
  const rejected: components['schemas']['RejectedDoNotCallNumber'][] = [];
  for (const [index, value] of sent.entries()) {
    if (typeof value === 'string' && E164.test(value)) numbers.add(digitsOf(value));
    else rejected.push({ index, phoneNumber: shown(value), code: 'invalid_number' });
  }
  return { numbers: [...numbers], rejected };
}

const digitsOf = (e164: string) => Number(e164.slice(1));

const present = (row: DoNotCallRow) => ({
  phoneNumber: `+${row.phone_number}`,
  source: row.list_id === null ? ('opt_out' as const) : ('list' as const),
  ...(row.reason !== null && { reason: row.reason }),
  ...(row.list_id !== null && { contactListId: toId('list', row.list_id) }),
  createdAt: row.created_at.toISOString(),
});

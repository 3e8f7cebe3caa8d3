import { pageAnswer, pageOf } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId, toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { buyNumber } from './buy-number.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { importNumbers } from './import-numbers.ts';
import { presentNumber } from './present-number.ts';
import { releaseNumber } from './release-number.ts';
import { searchNumbers } from './search-numbers.ts';
import { findNumber, listNumbers } from './store.ts';
import { updateNumber } from './update-number.ts';

/** The operations of the tag "Phone numbers". */
export function phoneNumberOperations(deps: PhoneNumberDeps) {
  const { database } = deps;
  return {
    listPhoneNumbers: async ({ query }, { workspaceId }) => {
      const column = query.column === 'phone_number' ? query.column : ('created_at' as const);
      const page = { ...pageOf(query), column };
      const found = await database.inSnapshot(workspaceId, (tx) => listNumbers(tx, page));
      return { status: 200, body: { ...pageAnswer(page, found, presentNumber), column } };
    },

    searchAvailablePhoneNumbers: async ({ query }, { workspaceId }) => ({
      status: 200,
      body: { items: await searchNumbers(deps, workspaceId, query) },
    }),

    buyPhoneNumber: async ({ body, headers }, context) => {
      const { row, replayed } = await buyNumber(deps, {
        workspaceId: context.workspaceId,
        phoneNumber: body.phoneNumber,
        provider: body.provider,
        idempotencyKey: headers['Idempotency-Key'],
        auditOf: auditOf(context),
      });
      return tagged(replayable({ status: 201 as const, body: presentNumber(row) }, replayed), row);
    },

    importPhoneNumbers: async ({ body, headers }, context) => {
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await importNumbers(deps, context.workspaceId, body, auditOf(context), key);
      const { imported, rejected } = made;
      return replayable({ status: 201 as const, body: { imported: imported.map(presentNumber), rejected } }, replayed);
    },

    getPhoneNumber: async ({ path }, { workspaceId }) => {
      const row = await existing(database.inWorkspace(workspaceId, (tx) => findNumber(tx, fromId(path.id))));
      return tagged({ status: 200 as const, body: presentNumber(row) }, row);
    },

    updatePhoneNumber: async ({ path, body, headers }, context) => {
      const { workspaceId } = context;
      const id = fromId(path.id);
      const row = await updateNumber(deps, workspaceId, id, body, auditOf(context), headers['If-Match']);
      return tagged({ status: 200 as const, body: presentNumber(row) }, row);
    },

    releasePhoneNumber: async ({ path }, context) => {
      const id = fromId(path.id);
      await releaseNumber(deps, context.workspaceId, id, auditOf(context));
      return { status: 200, body: { id: toId('pn', id), deleted: true } };
    },
  } satisfies Partial<Handlers>;
}

import { pageAnswer, pageOf } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { addEntries } from './add-entries.ts';
import { readEntry, removeEntry, updateEntry } from './change-entries.ts';
import type { ContactListDeps } from './deps.ts';
import { editionOf, entryPage } from './entry-store.ts';
import { findList } from './store.ts';

const entryKey = (path: { id: string; phoneNumber: string }) => ({
  listId: fromId(path.id),
  phoneNumber: path.phoneNumber,
});

const shown = (entry: components['schemas']['ContactListEntry']) =>
  tagged({ status: 200 as const, body: entry }, editionOf(entry));

/** The handlers of the entries of contact lists. */
export function entryOperations(deps: ContactListDeps) {
  const { database } = deps;
  return {
    listContactListEntries: async ({ path, query }, { workspaceId }) => {
      const page = pageOf(query);
      const found = await database.inSnapshot(workspaceId, async (tx) => {
        const list = await existing(findList(tx, fromId(path.id)));
        return entryPage(tx, list, page);
      });
      return { status: 200, body: pageAnswer(page, found, (entry) => entry) };
    },

    addContactListEntries: async ({ path, body, headers }, context) => {
      const wanted = { listId: fromId(path.id), sent: body.entries };
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await addEntries(deps, context.workspaceId, wanted, auditOf(context), key);
      return replayable({ status: 200 as const, body: made }, replayed);
    },

    getContactListEntry: async ({ path }, { workspaceId }) => shown(await readEntry(deps, workspaceId, entryKey(path))),

    updateContactListEntry: async ({ path, body, headers }, context) => {
      const { workspaceId, key } = context;
      const wanted = { ...entryKey(path), ifMatch: headers['If-Match'] };
      return shown(await updateEntry(deps, workspaceId, wanted, body, key.permissions, auditOf(context)));
    },

    removeContactListEntry: async ({ path }, context) => {
      const { workspaceId, key } = context;
      const removed = await removeEntry(deps, workspaceId, entryKey(path), key.permissions, auditOf(context));
      return { status: 200, body: { id: `+${removed}`, deleted: true } };
    },
  } satisfies Partial<Handlers>;
}

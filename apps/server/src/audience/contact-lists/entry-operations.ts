import { pageAnswer, pageOf } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { addEntries } from './add-entries.ts';
import { removeEntry, updateEntry } from './change-entries.ts';
import type { ContactListDeps } from './deps.ts';
import { entryPage } from './entry-store.ts';
import { findList } from './store.ts';

const entryKey = (path: { id: string; phoneNumber: string }) => ({
  listId: fromId(path.id),
  phoneNumber: path.phoneNumber,
});

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

    addContactListEntries: async ({ path, body }, context) => {
      const wanted = { listId: fromId(path.id), sent: body.entries };
      return { status: 200, body: await addEntries(deps, context.workspaceId, wanted, auditOf(context)) };
    },

    updateContactListEntry: async ({ path, body }, context) => {
      const { workspaceId, key } = context;
      const entry = await updateEntry(deps, workspaceId, entryKey(path), body, key.permissions, auditOf(context));
      return { status: 200, body: entry };
    },

    removeContactListEntry: async ({ path }, context) => {
      const { workspaceId, key } = context;
      const removed = await removeEntry(deps, workspaceId, entryKey(path), key.permissions, auditOf(context));
      return { status: 200, body: { id: `+${removed}`, deleted: true } };
    },
  } satisfies Partial<Handlers>;
}

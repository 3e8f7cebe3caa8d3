import { pageAnswer, pageOf } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { sentAs } from '../../foundation/values/as-sent.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing, refuse } from '../../foundation/values/service-error.ts';
import { replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { renameList } from './change-entries.ts';
import { countryFaults } from './check-country.ts';
import { confirmUpload } from './confirm-upload.ts';
import { createList } from './create-upload.ts';
import { deleteList } from './delete-list.ts';
import type { ContactListDeps } from './deps.ts';
import { type ListRow, shapeList } from './list.ts';
import { signedUpload } from './signed-upload.ts';
import { findList, latestUploads, listPage } from './store.ts';
import { shapeUpload, type UploadRow } from './upload.ts';
import { phoneColumnFaults, uploadIds, uploadOperations } from './upload-operations.ts';

/** The handlers of the contract's tag "Contact lists", but for those of entries. */
export function contactListOperations(deps: ContactListDeps) {
  const { database, objects } = deps;
  const present = (row: UploadRow) => signedUpload(objects, shapeUpload(row));
  const whole = async (list: ListRow, upload?: UploadRow) => shapeList(list, upload && (await present(upload)));
  const shown = async (list: ListRow, upload?: UploadRow) =>
    tagged({ status: 200 as const, body: await whole(list, upload) }, list);

  return {
    listContactLists: async ({ query }, { workspaceId }) => {
      const page = pageOf(query);
      const { latest, ...found } = await database.inSnapshot(workspaceId, async (tx) => {
        const found = await listPage(tx, page);
        const latest = await latestUploads(
          tx,
          found.rows.map((list) => list.id),
        );
        return { ...found, latest };
      });
      const items = found.rows.map((list) => whole(list, latest.get(list.id)));
      return { status: 200, body: pageAnswer(page, { ...found, rows: await Promise.all(items) }, (list) => list) };
    },

    createContactList: async ({ body, headers }, context) => {
      const { name, fileName = 'contacts.csv', type = 'contacts', defaultCountry } = body;
      refuse(countryFaults(defaultCountry, '/body/defaultCountry'));
      refuse(phoneColumnFaults(body));
      const { phoneColumn, doNotCallColumns, encoding, phoneColumns, nameColumns, timezoneColumns, sheet } = body;
      const columns = { phoneColumn, doNotCallColumns, phoneColumns, nameColumns, timezoneColumns };
      const wanted = sentAs({ name, fileName, type, defaultCountry, encoding, sheet, ...columns }, body);
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await createList(deps, context.workspaceId, wanted, auditOf(context), key);
      const { list, upload, signed } = made;
      const uploadDetails = await present(upload);
      const place = { uploadDetails, uploadUrl: signed.url, uploadHeaders: signed.headers };
      const answer = { status: 201 as const, body: { ...shapeList(list, uploadDetails), ...place } };
      return tagged(replayable(answer, replayed), list);
    },

    getContactList: async ({ path }, { workspaceId }) => {
      const { list, upload } = await database.inSnapshot(workspaceId, async (tx) => {
        const list = await existing(findList(tx, fromId(path.id)));
        return { list, upload: (await latestUploads(tx, [list.id])).get(list.id) };
      });
      return shown(list, upload);
    },

    updateContactList: async ({ path, body, headers }, context) => {
      const wanted = { listId: fromId(path.id), name: body.name, ifMatch: headers['If-Match'] };
      const list = await renameList(deps, context.workspaceId, wanted, auditOf(context));
      const latest = await database.inWorkspace(context.workspaceId, (tx) => latestUploads(tx, [list.id]));
      return shown(list, latest.get(list.id));
    },

    deleteContactList: async ({ path }, context) => {
      await deleteList(deps, context.workspaceId, fromId(path.id), context.key.permissions, auditOf(context));
      return { status: 200, body: { id: path.id, deleted: true } };
    },

    ...uploadOperations(deps),

    confirmContactListUpload: async ({ path }, context) => {
      const { workspaceId, signal } = context;
      const { list, upload } = await confirmUpload(deps, workspaceId, uploadIds(path), auditOf(context), signal);
      return shown(list, upload);
    },
  } satisfies Partial<Handlers>;
}

import { pageAnswer, pageOf } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing, refuse } from '../../foundation/values/service-error.ts';
import { replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { changeUpload } from './change-upload.ts';
import { createUpload } from './create-upload.ts';
import type { ContactListDeps } from './deps.ts';
import { mendRow, refuseUnchecked } from './mend-row.ts';
import { previewUpload } from './preview-upload.ts';
import { rejectedPage, shapeRejected } from './rejected-rows.ts';
import { signedUpload } from './signed-upload.ts';
import { findList, uploadPage } from './store.ts';
import { shapeUpload, shownEdition, type UploadRow } from './upload.ts';
import { uploadEvents } from './upload-events.ts';
import { findUpload } from './upload-store.ts';

/** The IDs that the path of an upload has. */
export const uploadIds = (path: { id: string; uploadID: string }) => ({
  listId: fromId(path.id),
  uploadId: fromId(path.uploadID),
});

/** The fault of a request that names phone columns twice. */
export const phoneColumnFaults = ({ phoneColumn, phoneColumns }: { phoneColumn?: string; phoneColumns?: string[] }) =>
  phoneColumn === undefined || phoneColumns === undefined
    ? []
    : [{ path: '/body/phoneColumn', message: 'says the same as phoneColumns: leave one of them out' }];

/** The handlers of uploads into a list, but for the confirm. */
export function uploadOperations(deps: ContactListDeps) {
  const { database, objects } = deps;
  const present = (row: UploadRow) => signedUpload(objects, shapeUpload(row));
  const shownUpload = async (upload: UploadRow) =>
    tagged({ status: 200 as const, body: await present(upload) }, shownEdition(upload));

  return {
    listContactListUploads: async ({ path, query }, { workspaceId }) => {
      const page = pageOf(query);
      const found = await database.inSnapshot(workspaceId, async (tx) => {
        const list = await existing(findList(tx, fromId(path.id)));
        return uploadPage(tx, list.id, page);
      });
      const uploads = { ...found, rows: await Promise.all(found.rows.map(present)) };
      return { status: 200, body: pageAnswer(page, uploads, (upload) => upload) };
    },

    createContactListUpload: async ({ path, body, headers }, context) => {
      refuse(phoneColumnFaults(body));
      const wanted = { listId: fromId(path.id), ...body };
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await createUpload(deps, context.workspaceId, wanted, auditOf(context), key);
      const { id, status, fileName, storageKey, createdAt } = shapeUpload(made.upload);
      const place = { uploadUrl: made.signed.url, uploadHeaders: made.signed.headers };
      const answer = { status: 201 as const, body: { id, status, fileName, storageKey, createdAt, ...place } };
      return replayable(answer, replayed);
    },

    getContactListUpload: async ({ path }, { workspaceId }) => {
      const { listId, uploadId } = uploadIds(path);
      const upload = await existing(database.inWorkspace(workspaceId, (tx) => findUpload(tx, listId, uploadId)));
      return shownUpload(upload);
    },

    updateContactListUpload: async ({ path, body, headers }, context) => {
      const wanted = { ...uploadIds(path), ifMatch: headers['If-Match'] };
      return shownUpload(await changeUpload(deps, context.workspaceId, wanted, body, auditOf(context)));
    },

    previewContactListUpload: async ({ path }, { workspaceId }) => ({
      status: 200,
      body: await previewUpload(deps, workspaceId, uploadIds(path)),
    }),

    listRejectedContactListRows: async ({ path, query }, { workspaceId }) => {
      const { listId, uploadId } = uploadIds(path);
      const page = pageOf({ order: 'asc', ...query });
      const found = await database.inSnapshot(workspaceId, async (tx) => {
        refuseUnchecked(await existing(findUpload(tx, listId, uploadId)));
        return rejectedPage(tx, uploadId, page);
      });
      return { status: 200, body: pageAnswer(page, found, shapeRejected) };
    },

    mendRejectedContactListRow: async ({ path, body, headers }, context) => {
      const wanted = { ...uploadIds(path), row: Number(path.row), ifMatch: headers['If-Match'] };
      const { workspaceId, key } = context;
      const row = await mendRow(deps, workspaceId, wanted, body.cells, key.permissions, auditOf(context));
      return { status: 200, body: shapeRejected(row) };
    },

    streamContactListUploadEvents: async ({ path, headers }, { workspaceId }) => {
      const reader = { workspaceId, lastEventId: headers['Last-Event-ID'] };
      const stream = await uploadEvents(deps, uploadIds(path), reader);
      return stream ? { status: 200, stream } : { status: 204 };
    },
  } satisfies Partial<Handlers>;
}

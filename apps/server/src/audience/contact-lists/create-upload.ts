import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type Made, makeOnce } from '../../foundation/database/idempotency-keys.ts';
import type { SignedUpload } from '../../foundation/objects/object-store.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { readStorage, refuseFull } from '../../platform/workspace/storage.ts';
import type { ContactListDeps } from './deps.ts';
import type { ListRow } from './list.ts';
import { type ReadAs, readAsOf } from './reading/file-format.ts';
import { findList, insertList, lockList } from './store.ts';
import type { UploadRow } from './upload.ts';
import { findUpload, firstUpload, insertUpload, prolongUpload } from './upload-store.ts';

const URL_SECONDS = 15 * 60;

/** A list or an upload into one, and the signed request that uploads the file. */
interface CreatedUpload {
  upload: UploadRow;
  signed: SignedUpload;
}

const keyOf = (id: string) => `uploads/${toId('upl', id)}.csv`;

/** What a new upload begins with. Its URL opens for 15 minutes. */
function newUpload({ clock }: ContactListDeps) {
  const [id, now] = [newUuid(), clock.now()];
  return { id, storageKey: keyOf(id), urlExpiresAt: new Date(now.getTime() + URL_SECONDS * 1000), now };
}

const signedFor = ({ objects, limits }: ContactListDeps, id: string): Promise<SignedUpload> =>
  objects.uploadUrl(keyOf(id), { contentType: 'text/csv', maxBytes: limits.maxBytes, expiresInSeconds: URL_SECONDS });

/**
 * Makes a list with its first upload, and the signed request that uploads the file. Throws `idempotency_key_reused` and `limit_reached`; for
 * a key that made one before it answers that, with a URL signed anew, and throws `not_found` where it was deleted.
 */
export async function createList(
  deps: ContactListDeps,
  workspaceId: string,
  wanted: {
    name: string;
    type: 'contacts' | 'dnd';
    defaultCountry: string | undefined;
    fileName: string;
    phoneColumn: string | undefined;
    doNotCallColumns?: string[] | undefined;
  } & ReadAs,
  auditOf: AuditOf,
  idempotencyKey?: string,
): Promise<Made<CreatedUpload & { list: ListRow }>> {
  const fresh = newUpload(deps);
  const [id, { now }] = [newUuid(), fresh];
  const named = idempotencyKey
    ? { operation: 'createContactList', key: idempotencyKey, request: wanted, resourceId: id, now }
    : undefined;
  const { made, replayed } = await deps.database.inWorkspace(workspaceId, (tx) => {
    const make = async () => {
      refuseFull(await readStorage(tx, workspaceId, deps.storageMaxBytes));
      const list = await insertList(tx, {
        id,
        name: wanted.name,
        type: wanted.type,
        status: 'draft',
        default_country: wanted.defaultCountry ?? null,
        created_at: now,
        updated_at: now,
      });
      const auditEntry = auditOf('contact_list.created', 'contact_list', toId('list', id));
      const { fileName, phoneColumn, doNotCallColumns } = wanted;
      const named = { fileName, phoneColumn, doNotCallColumns, readAs: readAsOf(wanted) };
      return { list, upload: await insertUpload(tx, { ...fresh, listId: id, ...named }, auditEntry) };
    };
    const again = async (listId: string) => {
      const list = await existing(findList(tx, listId));
      return { list, upload: await prolonged(tx, await firstUpload(tx, listId), fresh) };
    };
    return makeOnce(tx, named, make, again);
  });
  return { made: { ...made, signed: await signedFor(deps, made.upload.id) }, replayed };
}

/**
 * Makes another upload into a list.
 * @throws `not_found`; `invalid_state` for a list of type `batch`; `idempotency_key_reused`; `limit_reached`
 */
export async function createUpload(
  deps: ContactListDeps,
  workspaceId: string,
  wanted: {
    listId: string;
    fileName: string;
    phoneColumn?: string | undefined;
    doNotCallColumns?: string[] | undefined;
  } & ReadAs,
  auditOf: AuditOf,
  idempotencyKey?: string,
): Promise<Made<CreatedUpload>> {
  const fresh = newUpload(deps);
  const { id, now } = fresh;
  const named = idempotencyKey
    ? { operation: 'createContactListUpload', key: idempotencyKey, request: wanted, resourceId: id, now }
    : undefined;
  const { made, replayed } = await deps.database.inWorkspace(workspaceId, (tx) => {
    const make = async () => {
      const list = await existing(lockList(tx, wanted.listId));
      if (list.type === 'batch') throw new ServiceError('invalid_state', 'Lists of type batch take no uploads.');
      refuseFull(await readStorage(tx, workspaceId, deps.storageMaxBytes));
      return insertUpload(
        tx,
        { ...fresh, ...wanted, readAs: readAsOf(wanted) },
        auditOf('upload.created', 'upload', toId('upl', id)),
      );
    };
    const again = async (uploadId: string) => {
      await existing(findList(tx, wanted.listId));
      return prolonged(tx, await existing(findUpload(tx, wanted.listId, uploadId)), fresh);
    };
    return makeOnce(tx, named, make, again);
  });
  return { made: { upload: made, signed: await signedFor(deps, made.id) }, replayed };
}

/** An upload that still waits for its file waits for as long as its new URL opens. */
const prolonged = async (tx: WorkspaceTx, upload: UploadRow, { urlExpiresAt }: { urlExpiresAt: Date }) =>
  (await prolongUpload(tx, upload.id, urlExpiresAt)) ?? upload;

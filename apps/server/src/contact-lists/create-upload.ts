import type { WorkspaceTx } from '../database/database.ts';
import { newUuid, toId } from '../ids.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import type { SignedUpload } from '../objects/object-store.ts';
import { existing, ServiceError } from '../service-error.ts';
import type { ContactListDeps } from './deps.ts';
import type { ListRow } from './list.ts';
import { insertList, lockList } from './store.ts';
import type { UploadRow } from './upload.ts';
import { insertUpload } from './upload-store.ts';

const URL_SECONDS = 15 * 60;

interface NewUpload {
  id: string;
  storageKey: string;
  urlExpiresAt: Date;
  now: Date;
  signed: SignedUpload;
}

async function newUpload({ objects, clock, limits }: ContactListDeps): Promise<NewUpload> {
  const id = newUuid();
  const storageKey = `uploads/${toId('upl', id)}.csv`;
  const now = clock.now();
  const signed = await objects.uploadUrl(storageKey, {
    contentType: 'text/csv',
    maxBytes: limits.maxBytes,
    expiresInSeconds: URL_SECONDS,
  });
  return { id, storageKey, urlExpiresAt: new Date(now.getTime() + URL_SECONDS * 1000), now, signed };
}

/** Makes a list with its first upload, and the signed request that uploads the file. */
export async function createList(
  deps: ContactListDeps,
  workspaceId: string,
  wanted: {
    name: string;
    type: 'contacts' | 'dnd';
    defaultCountry: string | undefined;
    fileName: string;
    phoneColumn: string | undefined;
  },
  auditOf: AuditOf,
): Promise<{ list: ListRow; upload: UploadRow; signed: SignedUpload }> {
  const { signed, ...fresh } = await newUpload(deps);
  const id = newUuid();
  return deps.database.inWorkspace(workspaceId, async (tx) => {
    const list = await insertList(tx, {
      id,
      name: wanted.name,
      type: wanted.type,
      status: 'draft',
      default_country: wanted.defaultCountry ?? null,
      created_at: fresh.now,
      updated_at: fresh.now,
    });
    const auditEntry = auditOf('contact_list.created', 'contact_list', toId('list', id));
    const { fileName, phoneColumn } = wanted;
    const upload = await insertUpload(tx, { ...fresh, listId: id, fileName, phoneColumn }, auditEntry);
    return { list, upload, signed };
  });
}

/**
 * Makes another upload into a list.
 * @throws `not_found`; `invalid_state` for a list of type `batch`
 */
export async function createUpload(
  deps: ContactListDeps,
  workspaceId: string,
  wanted: { listId: string; fileName: string; phoneColumn?: string | undefined },
  auditOf: AuditOf,
): Promise<{ upload: UploadRow; signed: SignedUpload }> {
  const { signed, ...fresh } = await newUpload(deps);
  return deps.database.inWorkspace(workspaceId, async (tx: WorkspaceTx) => {
    const list = await existing(lockList(tx, wanted.listId));
    if (list.type === 'batch') throw new ServiceError('invalid_state', 'Lists of type batch take no uploads.');
    const auditEntry = auditOf('upload.created', 'upload', toId('upl', fresh.id));
    const upload = await insertUpload(tx, { ...fresh, ...wanted }, auditEntry);
    return { upload, signed };
  });
}

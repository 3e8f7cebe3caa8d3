import { listed } from '../../foundation/database/page.ts';
import type { Handlers, RequestContext } from '../../foundation/http/handler.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { createExport } from './create-export.ts';
import { deleteExport } from './delete-export.ts';
import type { ExportDeps } from './deps.ts';
import { isReady, shapeExport, type Wanted, wantedOf } from './export.ts';
import { exportPage, findExport } from './store.ts';

type Permission = components['schemas']['Permission'];

const URL_SECONDS = 15 * 60;

/** The operations of exports. */
export function exportOperations(deps: ExportDeps) {
  const { database, objects, clock } = deps;
  return {
    listExports: async ({ query }, { workspaceId }) => {
      const now = clock.now();
      const body = await listed(database, workspaceId, query, exportPage, (row) => shapeExport(row, now));
      return { status: 200, body };
    },
    createExport: async ({ body, headers }, context) => {
      const wanted: Wanted = body.type === 'calls' ? { type: 'calls', filter: body.filter ?? {} } : body;
      checkPermission(context, wanted);
      const key = headers['Idempotency-Key'];
      const { row, replayed } = await createExport(deps, context.workspaceId, wanted, key, auditOf(context));
      const answer = { status: 202 as const, body: shapeExport(row, clock.now()) };
      return replayed ? { ...answer, headers: { 'Idempotent-Replayed': 'true' } } : answer;
    },
    getExport: async ({ path: { exportId } }, context) => {
      const { workspaceId } = context;
      const row = await existing(database.inWorkspace(workspaceId, (tx) => findExport(tx, fromId(exportId))));
      checkPermission(context, wantedOf(row));
      const now = clock.now();
      const body = shapeExport(row, now);
      if (!isReady(row, now)) return { status: 200, body };
      const secondsLeft = Math.ceil((row.expires_at!.getTime() - now.getTime()) / 1000);
      const url = await objects.downloadUrl(row.storage_key!, {
        fileName: `${row.type}.csv`,
        contentType: 'text/csv; charset=utf-8',
        expiresInSeconds: Math.min(URL_SECONDS, secondsLeft),
      });
      return { status: 200, body: { ...body, url } };
    },
    deleteExport: async ({ path: { exportId } }, context) => {
      const { workspaceId } = context;
      const row = await existing(database.inWorkspace(workspaceId, (tx) => findExport(tx, fromId(exportId))));
      checkPermission(context, wantedOf(row));
      await deleteExport(deps, workspaceId, row.id, auditOf(context)('export.deleted', 'export', exportId));
      return { status: 200, body: { id: exportId, deleted: true } };
    },
  } satisfies Partial<Handlers>;
}

/** Nobody reads by an export what the key may not read. */
function checkPermission({ key: { permissions }, memberId }: RequestContext, wanted: Wanted): void {
  if (permissions.includes('*')) return;
  const missing = permissionsFor(wanted).find((each) => !permissions.includes(each));
  const who = memberId === undefined ? 'This key' : 'Your role';
  if (missing) throw new ServiceError('forbidden', `${who} lacks the permission ${missing}.`);
}

/** Whatever is kept about a person may stand in any of these. */
const OF_PERSON = [
  ...(['erasures:read', 'contact_lists:read', 'campaigns:read', 'calls:read', 'do_not_call:read'] as const),
  ...(['workflows:read', 'webhooks:read', 'audit_log:read'] as const),
] satisfies Permission[];

/** What a key needs besides the permission of the operation. */
function permissionsFor(wanted: Wanted): readonly Permission[] {
  if (wanted.type === 'person') return OF_PERSON;
  if (wanted.type === 'calls' || wanted.filter.batchId) return [];
  return [wanted.filter.contactListId ? 'contact_lists:read' : 'campaigns:read'];
}

import { pageAnswer, pageOf, several } from '../../foundation/database/page.ts';
import type { Handlers, RequestContext } from '../../foundation/http/handler.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { metadataPairs } from '../calls/metadata-pairs.ts';
import { deleteBatch } from './delete-batch.ts';
import { recipientPage } from './list-recipients.ts';
import { moveBatch } from './move-batch.ts';
import { type BatchDeps, startBatch } from './start-batch.ts';
import { batchPage, findBatch } from './store.ts';

/** The operations of batches. */
export function batchOperations(deps: BatchDeps & { jobs: Jobs }) {
  const { database, clock } = deps;
  const move = async (id: string, context: RequestContext, name: Parameters<typeof moveBatch>[3], done: string) => {
    const auditEntry = auditOf(context)(`batch.${done}`, 'batch', id);
    return { status: 200 as const, body: await moveBatch(deps, context.workspaceId, fromId(id), name, auditEntry) };
  };
  return {
    listBatches: async ({ query }, { workspaceId }) => {
      const page = pageOf(query);
      const wanted = { ...page, statuses: several(query.status) };
      const found = await database.inSnapshot(workspaceId, (tx) => batchPage(tx, wanted, clock.now()));
      return { status: 200, body: pageAnswer(page, found, (batch) => batch) };
    },
    startBatch: async ({ body, headers }, context) => {
      const { started, replayed } = await startBatch(deps, {
        workspaceId: context.workspaceId,
        input: body,
        idempotencyKey: headers['Idempotency-Key'],
        auditEntryOf: (id) => auditOf(context)('batch.started', 'batch', id),
      });
      const answer = { status: 202 as const, body: started };
      return replayed ? { ...answer, headers: { 'Idempotent-Replayed': 'true' } } : answer;
    },
    getBatch: async ({ path }, { workspaceId }) => {
      const batch = await existing(
        database.inSnapshot(workspaceId, (tx) => findBatch(tx, fromId(path.batchId), clock.now())),
      );
      return { status: 200, body: batch };
    },
    listBatchRecipients: async ({ path, query }, { workspaceId }) => {
      const { order = 'asc', accepted, externalId } = query;
      const page = { ...pageOf(query), order };
      const wanted = { ...page, accepted, externalId, metadata: metadataPairs(query.metadata) };
      const found = await database.inSnapshot(workspaceId, (tx) =>
        recipientPage(tx, fromId(path.batchId), wanted, { ...deps, now: clock.now() }),
      );
      return { status: 200, body: { ...pageAnswer(page, found, (recipient) => recipient), column: 'index' } };
    },
    deleteBatch: async ({ path: { batchId } }, context) => {
      const auditEntry = auditOf(context)('batch.deleted', 'batch', batchId);
      await deleteBatch(deps, context.workspaceId, fromId(batchId), auditEntry);
      return { status: 200, body: { id: batchId, deleted: true } };
    },
    pauseBatch: ({ path }, context) => move(path.batchId, context, 'pause', 'paused'),
    resumeBatch: ({ path }, context) => move(path.batchId, context, 'resume', 'resumed'),
    cancelBatch: ({ path }, context) => move(path.batchId, context, 'cancel', 'cancelled'),
  } satisfies Partial<Handlers>;
}

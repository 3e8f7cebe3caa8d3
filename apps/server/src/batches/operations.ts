import { pageAnswer, pageOf } from '../database/page.ts';
import type { Handlers } from '../http/handler.ts';
import { fromId } from '../ids.ts';
import { auditOf } from '../journal/audit-of.ts';
import { existing } from '../service-error.ts';
import { cancelBatch } from './cancel-batch.ts';
import { type BatchDeps, startBatch } from './start-batch.ts';
import { batchPage, findBatch } from './store.ts';

/** The operations of batches. */
export function batchOperations(deps: BatchDeps) {
  const { database, clock } = deps;
  return {
    listBatches: async ({ query }, { workspaceId }) => {
      const page = pageOf(query);
      const wanted = { ...page, status: query.status };
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
    cancelBatch: async ({ path }, context) => {
      const auditEntry = auditOf(context)('batch.cancelled', 'batch', path.batchId);
      return { status: 200, body: await cancelBatch(deps, context.workspaceId, fromId(path.batchId), auditEntry) };
    },
  } satisfies Partial<Handlers>;
}

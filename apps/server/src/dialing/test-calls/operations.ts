import type { Handlers } from '../../foundation/http/handler.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { shapeTestCall } from './shape-test-call.ts';
import { startTestCall, type TestCallDeps } from './start-test-call.ts';
import { findTestCall } from './store.ts';

/** The operations of test calls. */
export function testCallOperations(deps: TestCallDeps) {
  return {
    startTestCall: async ({ path, body, headers }, context) => {
      const { row, replayed } = await startTestCall(deps, {
        workspaceId: context.workspaceId,
        phoneNumberId: fromId(path.id),
        toNumber: body.toNumber,
        idempotencyKey: headers['Idempotency-Key'],
        auditOf: auditOf(context),
      });
      const answer = { status: 202 as const, body: shapeTestCall(row) };
      return replayed ? { ...answer, headers: { 'Idempotent-Replayed': 'true' } } : answer;
    },

    getTestCall: async ({ path }, { workspaceId }) => {
      const found = deps.database.inWorkspace(workspaceId, (tx) => findTestCall(tx, fromId(path.roomId)));
      return { status: 200, body: shapeTestCall(await existing(found)) };
    },
  } satisfies Partial<Handlers>;
}

import type { Handlers } from '../../foundation/http/handler.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { type CreateCallDeps, createCall } from './create-call.ts';

/** The operations of calls that are asked for by themselves. */
export function callIntentOperations(deps: CreateCallDeps) {
  return {
    createCall: async ({ body, headers }, context) => {
      const { call, replayed } = await createCall(deps, {
        workspaceId: context.workspaceId,
        input: body,
        idempotencyKey: headers['Idempotency-Key'],
        auditEntryOf: (roomId) => auditOf(context)('call.created', 'call', roomId),
      });
      const answer = { status: 202 as const, body: call };
      return replayed ? { ...answer, headers: { 'Idempotent-Replayed': 'true' } } : answer;
    },
  } satisfies Partial<Handlers>;
}

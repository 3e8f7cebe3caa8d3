import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { readTransfer, requestTransfer, type TransferDeps } from './request-transfer.ts';
import { shapeTransfer } from './transfer.ts';

const TIMEOUT_SECONDS = 30;

/** The operations of transfers. */
export function transferOperations(deps: TransferDeps) {
  return {
    transferCall: async ({ path, body, headers }, context) => {
      const { made, replayed } = await requestTransfer(deps, {
        workspaceId: context.workspaceId,
        roomId: fromId(path.roomId),
        to: body.to,
        timeoutSeconds: body.timeoutSeconds ?? TIMEOUT_SECONDS,
        idempotencyKey: headers['Idempotency-Key'],
        auditEntry: auditOf(context)('call.transfer_requested', 'call', path.roomId),
      });
      const answer = { status: 202 as const, body: shapeTransfer(made) };
      return replayed ? { ...answer, headers: { 'Idempotent-Replayed': 'true' } } : answer;
    },
    getCallTransfer: async ({ path }, { workspaceId }) => {
      const read = (tx: WorkspaceTx) => readTransfer(tx, fromId(path.roomId), fromId(path.transferId));
      return { status: 200, body: shapeTransfer(await existing(deps.database.inSnapshot(workspaceId, read))) };
    },
  } satisfies Partial<Handlers>;
}

import type { NamedRequest } from '../../../foundation/database/idempotency-keys.ts';
import { toId } from '../../../foundation/values/ids.ts';
import type { ServiceError } from '../../../foundation/values/service-error.ts';
import type { AuditOf } from '../../../platform/journal/audit-of.ts';
import type { AuditEntry } from '../../../platform/journal/record.ts';
import type { LatestFlow } from './latest-flows.ts';
import type { RunRow } from './run.ts';

/** The operation that the `Idempotency-Key`s of starts belong to. */
export const START_OPERATION = 'startWorkflowRun';

/** A start that has passed the contract's checks. */
export interface RunStart {
  /** UUID of the run that it makes. */
  id: string;
  workflowId: string;
  idempotencyKey: string;
  concurrencyKey: string | undefined;
  cooldownMinutes: number | undefined;
  context: Record<string, unknown>;
  auditOf: AuditOf;
}

/** A start and the run that it makes. */
export interface NewRun {
  start: RunStart;
  run: RunRow;
  follows: LatestFlow;
}

/** What became of a start: the new run, the one that was started before, or why there is none. */
export type StartResult = NewRun | { run: RunRow; isReplayed: true } | ServiceError;

/** A start as a request that can be sent twice. Equal are those of one workflow, one body and the same headers. */
export const namedStart = (start: RunStart, now: Date): NamedRequest => ({
  operation: START_OPERATION,
  key: start.idempotencyKey,
  request: [start.workflowId, start.concurrencyKey ?? null, start.cooldownMinutes ?? null, start.context],
  resourceId: start.id,
  now,
});

/** The audit entry of a start. */
export const startEntry = ({ id, auditOf }: RunStart): AuditEntry =>
  auditOf('workflow_run.started', 'workflow_run', toId('run', id));

import { partOf, rootOf, type Span, type Tracer } from '../../../foundation/observe/tracing.ts';
import { toId } from '../../../foundation/values/ids.ts';
import type { Change } from './change-run.ts';
import type { HttpAttempt } from './perform-http.ts';
import type { RunRow } from './run.ts';

/** Records what runs have come to: each step since the run was written before. A child leads to its parent's trace. */
export function traceSteps(tracer: Tracer, changes: readonly Change[]): void {
  for (const { before, steps, now } of changes)
    for (const { node_id, status, room_id, error } of steps)
      tracer.record(
        partOf(before.id, {
          ...({ name: 'step', kind: 'internal', from: before.updated_at.getTime(), to: now.getTime() } as const),
          attributes: {
            ...{ 'trunkline.node': node_id, 'trunkline.status': status },
            ...(room_id && { 'trunkline.room_id': toId('room', room_id) }),
          },
          hasFailed: error !== undefined,
          link: before.parent_run_id ? rootOf(before.parent_run_id) : undefined,
        }),
      );
}

/** The request of an `http` node before it is sent. */
export const spanOfRequest = (run: RunRow): Span => {
  const from = Date.now();
  return partOf(run.id, {
    ...({ name: 'http', kind: 'client', from, to: from } as const),
    attributes: { 'trunkline.node': run.node_id },
  });
};

/** Records it. */
export function traceRequest(tracer: Tracer, span: Span, { answer, error }: HttpAttempt): void {
  const attributes = { ...span.attributes, ...(answer && { 'http.response.status_code': answer.status }) };
  tracer.record({ ...span, attributes, to: Date.now(), hasFailed: error !== undefined });
}

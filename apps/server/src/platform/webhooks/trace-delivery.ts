import { partOf, type Span, type SpanContext, type Tracer } from '../../foundation/observe/tracing.ts';
import { fromId } from '../../foundation/values/ids.ts';
import type { DueDelivery } from './claim-endpoints.ts';
import type { Tried } from './try-delivery.ts';

/** What of an event's data names its trace, the first that is there. */
const NAMES = ['batchId', 'campaignId', 'workflowRunId', 'runId', 'roomId', 'id'];

/** A try of a delivery before it is made, in the trace of what the event is about. */
export function spanOfTry(delivery: DueDelivery): Span {
  const { type, data } = JSON.parse(delivery.payload) as { type: string; data: Record<string, unknown> };
  const id = NAMES.map((name) => data[name]).find((value) => /^[a-z]+_[0-9a-f]{32}$/.test(String(value)));
  const from = Date.now();
  return partOf(id === undefined ? delivery.order_key : fromId(String(id)), {
    ...({ name: 'webhook', kind: 'client', from, to: from } as const),
    attributes: { 'trunkline.event': type, 'trunkline.try': delivery.attempts + 1 },
  });
}

/** Records the try. */
export function traceTry(tracer: Tracer, span: Span & SpanContext, { verdict, statusCode }: Tried): void {
  const attributes = {
    ...span.attributes,
    ...(statusCode !== undefined && { 'http.response.status_code': statusCode }),
  };
  tracer.record({ ...span, attributes, to: Date.now(), hasFailed: verdict !== 'delivered' });
}

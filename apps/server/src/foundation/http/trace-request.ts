import { newSpanId, newTraceId, readTraceparent, rootOf, type SpanContext, type Tracer } from '../observe/tracing.ts';
import { fromId } from '../values/ids.ts';
import type { Exchange, Subject } from './exchange.ts';

/** Of what a trace can be. */
const TRACED = /^(bat|cmp|run|room)_[0-9a-f]{32}$/;
const DEPTH = 3;

/** The fields in which what has been made says its own ID; others name what it belongs to. */
const OWN = ['id', 'batchId', 'roomId'];

/**
 * What a request that changes something is about: what its path names, or else what its answer tells of. A request that was
 * sent again is a part of the trace that the first one began.
 */
export function subjectOf(
  method: string | undefined,
  params: object,
  { body, headers }: { body?: unknown; headers?: Record<string, string> },
): Subject | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  const named = findId(params, 1);
  const id = named ?? findId(body, DEPTH);
  if (id === undefined) return undefined;
  const { data, ...bare } = (body ?? {}) as { data?: object };
  const isItsOwn = OWN.some((field) => (({ ...bare, ...data }) as Record<string, unknown>)[field] === id);
  const isNew = named === undefined && isItsOwn && headers?.['Idempotent-Replayed'] === undefined;
  return { uuid: fromId(id), isNew };
}

function findId(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return TRACED.test(value) ? value : undefined;
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  for (const each of Object.values(value)) {
    const found = findId(each, depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Records a request: in the trace of what it is about, which what it has made begins with. Who sends a `traceparent` has it
 * in his own trace too, and each leads to the other.
 */
export function traceRequest(
  tracer: Tracer,
  { request, response, operation, requestId, subject }: Exchange,
  from: number,
) {
  const sender = readTraceparent(request.headers['traceparent']);
  const span = {
    ...({ name: operation!.id, kind: 'server', from, to: Date.now() } as const),
    attributes: {
      'http.request.method': request.method ?? '',
      'http.route': operation!.path,
      'http.response.status_code': response.statusCode,
      'trunkline.request_id': requestId,
    },
    hasFailed: response.statusCode >= 500,
  };
  const root = subject && rootOf(subject.uuid);
  const own: SpanContext | undefined = root && (subject?.isNew ? root : { ...root, spanId: newSpanId() });
  const theirs = sender ? { traceId: sender.traceId, spanId: newSpanId() } : undefined;
  if (own) tracer.record({ ...span, ...own, parent: subject?.isNew ? undefined : root?.spanId, link: theirs });
  if (theirs) tracer.record({ ...span, ...theirs, parent: sender?.spanId, link: own });
  if (!own && !theirs) tracer.record({ ...span, traceId: newTraceId(), spanId: newSpanId() });
}

import { createHash, randomBytes } from 'node:crypto';

/** Work that has ended, of a trace. Times are the machine's, in milliseconds since the epoch. */
export interface Span extends SpanContext {
  name: string;
  kind: 'server' | 'client' | 'internal';
  from: number;
  to: number;
  /** The span that it is a part of; absent for the first of a trace. */
  parent?: string | undefined;
  attributes: Record<string, string | number>;
  hasFailed?: boolean;
  /** A span of another trace that belongs to it. */
  link?: SpanContext | undefined;
}

/** What names a span: 32 and 16 hex digits. */
export interface SpanContext {
  traceId: string;
  spanId: string;
}

/** Where spans go. */
export interface Tracer {
  record(span: Span): void;
  /** Sends what it still has. */
  close(): Promise<void>;
}

/**
 * The tracer of this process, undefined while tracing is off. As OpenTelemetry's own it is the process's: whoever does work
 * records it as `tracer?.record(…)`, which costs nothing without one.
 */
export let tracer: Tracer | undefined;

export function setTracer(given: Tracer | undefined): void {
  tracer = given;
}

// No context is carried along or kept: what is stored has a UUID, and the UUID of the first of it, a batch, a campaign, a
// run, a call by itself, is the ID of its trace. So whichever process goes on with it knows its trace.

/** The trace of what has this UUID, and its first span: the request that made it. */
export function rootOf(uuid: string): SpanContext {
  const traceId = uuid.replaceAll('-', '');
  return { traceId, spanId: traceId.slice(16) };
}

/** The span of a call, in whatever trace. */
export const callSpanId = (roomId: string): string =>
  createHash('sha256').update(`call ${roomId}`).digest('hex').slice(0, 16);

export const newSpanId = (): string => randomBytes(8).toString('hex');
export const newTraceId = (): string => randomBytes(16).toString('hex');

/** A span within the trace of what has this UUID, as a part of the request that made it unless another parent is given. */
export function partOf(uuid: string, given: Omit<Span, 'traceId' | 'spanId'> & { spanId?: string }): Span {
  const root = rootOf(uuid);
  return { traceId: root.traceId, spanId: newSpanId(), parent: root.spanId, ...given };
}

/** What a trace is called in a request (W3C Trace Context). */
export const traceparentOf = ({ traceId, spanId }: SpanContext): string => `00-${traceId}-${spanId}-01`;

/** The span that a request is a part of, where its sender says so. */
export function readTraceparent(header: unknown): SpanContext | undefined {
  const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(String(header)) ?? [];
  return traceId && spanId && !/^0+$/.test(traceId) && !/^0+$/.test(spanId) ? { traceId, spanId } : undefined;
}

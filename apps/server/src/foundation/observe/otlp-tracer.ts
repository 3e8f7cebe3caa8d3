import type { HrTime } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import type { Span, SpanContext, Tracer } from './tracing.ts';

/** What waits for a collector; beyond it spans are dropped. */
const MOST_WAITING = 20_000;
const GATHER_MS = 1000;
const SAMPLED = 1;
const STATUS = { unset: 0, error: 2 } as const;
const KIND = { internal: 0, server: 1, client: 2 } as const;

/** Sends spans to the collector of the settings, by OTLP over HTTP; nothing where none is set. The SDK is loaded only here. */
export async function openTracer(
  { otlpEndpoint, otlpHeaders, otlpServiceName }: Config,
  log: Logger,
): Promise<Tracer | undefined> {
  if (otlpEndpoint === undefined) return undefined;
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const otlp = new OTLPTraceExporter({ url: `${otlpEndpoint}/v1/traces`, headers: otlpHeaders ?? {} });
  const exporter = tellingFaults(otlp, log);
  const options = { exporter, maxQueueSize: MOST_WAITING, scheduledDelayMillis: GATHER_MS };
  const processor = new BatchSpanProcessor(options);
  const resource = resourceFromAttributes({ 'service.name': otlpServiceName });
  log.info({ host: new URL(otlpEndpoint).host }, 'tracing');
  return {
    record: (span) => processor.onEnd(readable(span, resource) as never),
    close: () => processor.shutdown(),
  };
}

/** The SDK says nothing of spans that it could not send: the first fault is told of, and when it is over. */
function tellingFaults(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined;
        if (hasFailed && !isFailing) log.warn({ err: result.error }, 'traces can not be sent; those of now are lost');
        if (!hasFailed && isFailing) log.info('traces are sent again');
        isFailing = hasFailed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

const contextOf = ({ traceId, spanId }: SpanContext) => ({ traceId, spanId, traceFlags: SAMPLED });

/** Seconds and nanoseconds. */
const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];

function readable(span: Span, resource: ReadableSpan['resource']): ReadableSpan {
  const { name, kind, from, parent, attributes, hasFailed, link } = span;
  const to = Math.max(from, span.to);
  return {
    ...{ name, attributes, resource, kind: KIND[kind], ended: true, events: [] },
    spanContext: () => contextOf(span),
    ...(parent !== undefined && { parentSpanContext: contextOf({ traceId: span.traceId, spanId: parent }) }),
    ...{ startTime: hrTime(from), endTime: hrTime(to), duration: hrTime(to - from) },
    status: { code: hasFailed ? STATUS.error : STATUS.unset },
    links: link ? [{ context: contextOf(link), attributes: {} }] : [],
    instrumentationScope: { name: 'trunkline' },
    ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  };
}

import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { Operation } from './contract.ts';

/** What the edge counts, and the registry into which features put their own metrics. */
export interface Metrics {
  registry: Registry;
  /** Counts an answered request; `seconds` from its arrival to its last byte handed to the socket. */
  answered(operation: Operation, status: number, seconds: number): void;
  /** Counts an answer that broke the contract. */
  violation(operation: Operation): void;
  /** Count an event stream that is opened, and one that has ended. */
  streamOpened(): void;
  streamEnded(): void;
}

/** A registry of its own with the process's metrics (CPU, memory, event-loop lag) and those of the edge. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  for (const metric of ofProcess()) registry.registerMetric(metric);
  const durations = new Histogram({
    name: 'trunkline_http_request_duration_seconds',
    help: 'Time to answer a request, by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    registers: [registry],
  });
  const violations = new Counter({
    name: 'trunkline_http_response_violations_total',
    help: 'Answers that the contract does not allow, by operation. Each is a defect of the server.',
    labelNames: ['operation'],
    registers: [registry],
  });
  const streams = new Gauge({
    name: 'trunkline_event_streams',
    help: 'Event streams that clients have open at this server.',
    registers: [registry],
  });
  // Looking a series up by its labels costs more than observing it.
  const series = new Map<Operation, Map<number, { observe(seconds: number): void }>>();
  const seriesOf = (operation: Operation, status: number) => {
    const byStatus = series.get(operation) ?? new Map();
    series.set(operation, byStatus);
    const found = byStatus.get(status) ?? durations.labels(operation.id, String(status));
    byStatus.set(status, found);
    return found;
  };
  return {
    registry,
    answered: (operation, status, seconds) => seriesOf(operation, status).observe(seconds),
    violation: (operation) => violations.inc({ operation: operation.id }),
    streamOpened: () => streams.inc(),
    streamEnded: () => streams.dec(),
  };
}

/** How often the lag of the event loop is sampled, which the lag includes. Each 10 ms it took 0.3 % of a core at rest. */
const LAG_MS = 50;

let processRegistry: Registry | undefined;

/** What is measured of the process. It goes on until that ends, so all servers in it share one of each. */
function ofProcess() {
  if (!processRegistry) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry, eventLoopMonitoringPrecision: LAG_MS });
  }
  return processRegistry.getMetricsAsArray() as unknown as Metric[];
}

import type { Database } from '../../foundation/database/database.ts';
import { registerDatabaseMetrics } from '../../foundation/database/metrics.ts';
import { createMetrics, type Metrics } from '../../foundation/http/metrics.ts';
import type { Clock, MachineClock } from '../../foundation/values/clock.ts';
import { registerDiskMetrics } from './disk.ts';
import { type QueueAges, registerQueueMetrics } from './queues.ts';
import { registerTrunkMetrics } from './trunks.ts';

/** The metrics of the edge, with those of the database, of what waits and runs in it, and of the disk. */
export function openMetrics(parts: {
  database: Database;
  clock: Clock;
  machine: MachineClock;
  config: { dataDir: string };
}): Metrics & { queueAges: QueueAges } {
  const { database, clock, machine, config } = parts;
  const metrics = createMetrics();
  registerDatabaseMetrics(metrics.registry, database, machine);
  const queueAges = registerQueueMetrics(metrics.registry, database, clock);
  registerTrunkMetrics(metrics.registry, database, clock);
  registerDiskMetrics(metrics.registry, config.dataDir);
  return { ...metrics, queueAges };
}

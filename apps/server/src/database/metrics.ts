import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { MachineClock } from '../clock.ts';
import type { Database } from './database.ts';

/** Puts the database's state into the metrics. It is read when they are. */
export function registerDatabaseMetrics(registry: Registry, database: Database, machine: MachineClock): void {
  new Gauge({
    name: 'trunkline_database_connections',
    help: 'Database connections of this server: in use, idle, and requests waiting for one.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { totalCount, idleCount, waitingCount } = database.pool;
      this.set({ state: 'used' }, totalCount - idleCount);
      this.set({ state: 'idle' }, idleCount);
      this.set({ state: 'waiting' }, waitingCount);
    },
  });
  new Gauge({
    name: 'trunkline_clock_ahead_seconds',
    help: "How far the clock of this machine is ahead of the database's. Beyond 5, or -5, or while it is not known (NaN), nothing is claimed.",
    registers: [registry],
    collect() {
      this.set((machine.aheadMs() ?? Number.NaN) / 1000);
    },
  });
  new Gauge({
    name: 'trunkline_database_oldest_snapshot_seconds',
    help: 'Age of the oldest transaction that still needs its snapshot. While it grows, dead rows stay and claims slow down.',
    registers: [registry],
    async collect() {
      const { rows } = await database.inEngine(({ db }) =>
        sql<{ seconds: number }>`
          select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 as seconds
          from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid()`.execute(db),
      );
      this.set(rows[0]!.seconds);
    },
  });
}

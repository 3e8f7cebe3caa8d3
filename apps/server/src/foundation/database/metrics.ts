import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { MachineClock } from '../values/clock.ts';
import { keptReading } from '../values/kept-reading.ts';
import type { Database } from './database.ts';
import type { Lease } from './lease.ts';

/** Puts the database's state into the metrics. It is read when they are. */
export function registerDatabaseMetrics(registry: Registry, database: Database, machine: MachineClock): void {
  const oldestSnapshot = keptReading(async () => {
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ seconds: number }>`
        select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 as seconds
        from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid()`.execute(db),
    );
    return rows[0]!.seconds;
  });
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
      this.set((await oldestSnapshot()) ?? Number.NaN);
    },
  });
}

/** Puts this server's lease into the metrics. */
export function registerLeaseMetrics(registry: Registry, lease: Pick<Lease, 'isHeld' | 'leftMs'>): void {
  new Gauge({
    name: 'trunkline_lease_held',
    help: 'Whether this server may claim and place: 1 while its lease holds and its clock is right, else 0.',
    registers: [registry],
    collect() {
      this.set(lease.isHeld() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'trunkline_lease_left_seconds',
    help: 'How long the lease of this server holds yet. It is renewed thrice in LEASE_SECONDS.',
    registers: [registry],
    collect() {
      this.set(lease.leftMs() / 1000);
    },
  });
}

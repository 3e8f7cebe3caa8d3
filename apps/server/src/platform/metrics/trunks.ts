import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { keptReading } from '../../foundation/values/kept-reading.ts';

interface TrunkState {
  status: 'active' | 'slowed' | 'paused';
  /** Why it is paused. */
  reason: string;
  trunks: number;
  /** Those of them that carry as many calls as they may. */
  full: number;
  /** Calls that are up over them. */
  calls: number;
}

/** Puts trunks into the metrics, over all servers and workspaces; none of them is named, since there may be thousands. */
export function registerTrunkMetrics(registry: Registry, database: Database, clock: Clock): void {
  const read = keptReading(() => database.inEngine((tx) => readTrunks(tx, clock.now())));
  const sum = (states: TrunkState[] | undefined, count: (state: TrunkState) => number) =>
    states === undefined ? Number.NaN : states.reduce((all, state) => all + count(state), 0);
  new Gauge({
    name: 'trunkline_trunks',
    help: 'Trunks by status, over all servers: active, slowed since they said that they are full, or paused, and why.',
    labelNames: ['status', 'reason'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { status, reason, trunks } of (await read()) ?? []) this.inc({ status, reason }, trunks);
    },
  });
  new Gauge({
    name: 'trunkline_trunks_full',
    help: 'Trunks that carry as many calls as they may, over all servers.',
    registers: [registry],
    async collect() {
      this.set(sum(await read(), ({ full }) => full));
    },
  });
  new Gauge({
    name: 'trunkline_trunk_channels_used',
    help: 'Calls that are placed or up over trunks, over all servers.',
    registers: [registry],
    async collect() {
      this.set(sum(await read(), ({ calls }) => calls));
    },
  });
}

/** Calls are read from the index of those that are live, and trunks are few. */
async function readTrunks({ db }: EngineTx, now: Date): Promise<TrunkState[]> {
  const { rows } = await sql<TrunkState>`
    select case when t.status = 'active' and h.slowed_until > ${now} then 'slowed' else t.status end as status,
      coalesce(t.reason, '') as reason, count(*)::int as trunks, coalesce(sum(l.live), 0)::int as calls,
      count(*) filter (where l.live >= t.max_channels)::int as full
    from trunks t join trunk_health h on h.workspace_id = t.workspace_id and h.trunk_id = t.id
    left join (select trunk_id, count(*) as live from calls
      where ended_at is null and trunk_id is not null group by trunk_id) as l on l.trunk_id = t.id
    group by 1, 2`.execute(db);
  return rows;
}

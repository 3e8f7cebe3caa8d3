import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { keptReading } from '../../foundation/values/kept-reading.ts';
import { oldestJobs } from '../jobs/oldest-jobs.ts';

/** The most campaigns that are looked at. */
const MOST_CAMPAIGNS = 1000;

/** For how long the oldest of what is due in each queue has waited, in seconds; nothing where that can't be read now. */
export type QueueAges = () => Promise<ReadonlyMap<string, number> | undefined>;

/** Puts the age of what is due and not taken up into the metrics, over all servers, by queue; answers with what reads it. */
export function registerQueueMetrics(registry: Registry, database: Database, clock: Clock): QueueAges {
  const campaignAge = campaignsWatched();
  const read = keptReading(() =>
    database.inEngine(async (tx) => {
      const now = clock.now();
      const ages = new Map((await oldestJobs(tx)).map(({ queue, seconds }) => [queue, seconds]));
      for (const [queue, dueAt] of await oldestDue(tx, now))
        ages.set(queue, dueAt ? Math.max(0, (now.getTime() - dueAt.getTime()) / 1000) : 0);
      return ages.set('campaigns', campaignAge(await claimable(tx, now)));
    }),
  );
  new Gauge({
    name: 'trunkline_queue_oldest_seconds',
    help: 'For how long the oldest of what is due in a queue has waited to be taken up, over all servers. Of campaigns: since this server saw one due and left alone.',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const [queue, seconds] of (await read()) ?? []) this.set({ queue }, seconds);
    },
  });
  return read;
}

/** When the first was due of calls by themselves, of workflow runs, and of webhook deliveries: the head of an index each. */
async function oldestDue(tx: EngineTx, now: Date): Promise<[queue: string, dueAt: Date | null][]> {
  const first = await together(tx, [
    sql<{ due_at: Date | null }>`
      select min(next_attempt_at) as due_at from call_intents where next_attempt_at is not null`,
    sql<{ due_at: Date | null }>`select min(due_at) as due_at from workflow_runs where due_at is not null`,
    sql<{ due_at: Date | null }>`
      select min(d.next_attempt_at) as due_at from webhooks w cross join lateral (
        select next_attempt_at from webhook_deliveries
        where workspace_id = w.workspace_id and webhook_id = w.id and status = 'pending'
        order by next_attempt_at limit 1) as d
      where w.deleted_at is null and w.status = 'enabled' and (w.resting_until is null or w.resting_until <= ${now})`,
  ]);
  const dueAts = first.map(({ rows }) => rows[0]?.due_at ?? null);
  return ['calls', 'workflow_runs', 'webhook_deliveries'].map((queue, at) => [queue, dueAts[at] ?? null]);
}

/** A campaign that may have something to claim, and the version of its row, which every claim and every end of a call changes. */
interface Claimable {
  id: string;
  version: string;
}

async function claimable({ db }: EngineTx, now: Date): Promise<Claimable[]> {
  const { rows } = await sql<Claimable>`
    select c.id, c.xmin::text as version from campaigns c join workspaces w on w.id = c.workspace_id
    where c.status = 'running' and c.next_claim_at <= ${now} and w.dialing_paused_at is null
    limit ${sql.lit(MOST_CAMPAIGNS)}`.execute(db);
  return rows;
}

/** A campaign that is due says not since when. So it counts since it was seen as it is now. */
function campaignsWatched(): (found: Claimable[]) => number {
  let seen = new Map<string, Claimable & { at: number }>();
  return (found) => {
    const now = performance.now();
    seen = new Map(
      found.map((campaign) => {
        const before = seen.get(campaign.id);
        return [campaign.id, before?.version === campaign.version ? before : { ...campaign, at: now }];
      }),
    );
    return Math.max(0, ...[...seen.values()].map(({ at }) => (now - at) / 1000));
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../src/foundation/database/database.ts';
import type { StreamSeen } from './history.ts';
import type { Clients } from './load/client-record.ts';
import type { ChaosOptions } from './options.ts';
import type { World } from './world.ts';

/** Asks for what all workspaces have; where the database is away, again. */
export async function read<Row>(database: Database, query: RawBuilder<Row>): Promise<Row[]> {
  for (let tries = 1; ; tries += 1)
    try {
      return await database.inEngine(async ({ db }) => (await query.execute(db)).rows);
    } catch (error) {
      if (tries === 20) throw error;
      await sleep(300);
    }
}

/** Contacts whose hours are over, by their numbers, wait for them; nothing else may wait for ever. */
const CLOSED = sql`c.phone_number between 14157000000 and 14157999999`;

/** What is still to be done, a line each. */
export const openWork = async (database: Database): Promise<string[]> =>
  (
    await read(
      database,
      sql<{ what: string }>`
        select 'call ' || id || ' is ' || status as what from calls where ended_at is null
        union all select 'call ' || id || ' waits: ' || coalesce(reason, 'nothing said') from call_intents
        union all select p.kind || ' ' || p.id || ' is ' || p.status || ', contact ' || c.id || ' is ' || c.state
          from campaign_contacts c join campaigns p on p.workspace_id = c.workspace_id and p.id = c.campaign_id
          where c.state not in ('done', 'skipped') and p.status <> 'stopped' and not ${CLOSED}
        union all select p.kind || ' ' || p.id || ' is ' || p.status || ', and all is done' from campaigns p
          where p.status in ('running', 'paused') and not exists (select from campaign_contacts c
            where c.campaign_id = p.id and c.state not in ('done', 'skipped'))
        union all select 'run ' || id || ' is ' || status from workflow_runs where ended_at is null
        union all select 'a key is held: ' || key from concurrency_keys where active_run is not null
        union all select 'a signal waits for run ' || run_id from run_signals
        union all select 'upload ' || id || ' is ' || status from contact_list_uploads
          where status in ('uploaded', 'validating', 'processing') or status = 'validated' and not by_json
        union all select 'document ' || id || ' is ' || status from knowledge_base_documents
          where status in ('pending', 'processing')
        union all select 'an event of ' || resource_id || ' is not handed over' from events_to_hand_over
        union all select 'delivery ' || id || ', ' || event_type || ', is ' || status || ' after ' || attempts || ' tries'
          from webhook_deliveries where status = 'pending'`,
    )
  ).map(({ what }) => what);

/** The longest that a call or a run waits for its next try: what waits for longer was put off by a wrong clock, and stays so. */
const LONGEST_WAIT_MS = 3_600_000;

/**
 * Has what waits for minutes go on at once, as if these had passed: retries of contacts, of webhooks, of calls; and does what
 * an operator would: resumes trunks that were paused for what their carrier did. A campaign is looked at again for the
 * contacts whose time has passed alone: one that was forgotten stays forgotten.
 */
async function passTime(database: Database, { insist }: Clients): Promise<void> {
  const now = new Date();
  const latest = new Date(now.getTime() + LONGEST_WAIT_MS);
  await read(
    database,
    sql`with contacts as (update campaign_contacts set next_attempt_at = ${now}
          where state = 'waiting' and next_attempt_at between ${now} and ${latest} returning campaign_id),
        campaigns as (update campaigns set next_claim_at = '1970-01-01'
          where status = 'running' and id in (select campaign_id from contacts)),
        intents as (update call_intents set next_attempt_at = ${now} where next_attempt_at between ${now} and ${latest}),
        runs as (update workflow_runs set due_at = ${now} where due_at between ${now} and ${latest} and server_id is null)
      update webhook_deliveries set next_attempt_at = ${now} where status = 'pending' and attempts > 0`,
  );
  const trunks = await insist('listTrunks', (client) => client.trunks.list());
  for (const { id, status } of trunks.items)
    if (status === 'paused') await insist('resumeTrunk', (client) => client.trunks.resume(id));
}

/** How often time is passed, in milliseconds. */
const PASS_MS = 4000;

/** After a loss nobody confirms a file whose import was lost: who had confirmed it knows of it as imported. */
export const staysAfterLoss = (what: string): boolean => /^upload .* is validated$/.test(what);

/** Waits until nothing is open any more, but for what may stay so, at most so long. Answers what is open then. */
export async function waitForRest(
  database: Database,
  clients: Clients,
  { restSeconds, tell }: Pick<ChaosOptions, 'restSeconds' | 'tell'>,
  stays: (what: string) => boolean = () => false,
): Promise<string[]> {
  const began = performance.now();
  let passed = began;
  for (;;) {
    const open = (await openWork(database)).filter((what) => !stays(what));
    const now = performance.now();
    if (open.length === 0 || now - began > restSeconds * 1000) return open;
    if (now - passed > PASS_MS) {
      tell(`still open: ${open.length}, such as ${open[0]}`);
      await passTime(database, clients);
      passed = performance.now();
    }
    await sleep(300);
  }
}

/** How long the last event may take to those who follow, in milliseconds. */
const LATEST_WORD_MS = 10_000;

/** Waits until who follows a campaign was told its last event; not for ever, the laws find what is missing. */
export async function untilTold(database: Database, streams: readonly StreamSeen[]): Promise<void> {
  const rows = await read(
    database,
    sql<{ resource_id: string; last: number }>`
      select resource_id, max(revision) as last from events group by resource_id`,
  );
  const last = new Map(rows.map((row) => [row.resource_id, row.last]));
  const isBehind = ({ kind, resource, seen }: StreamSeen) =>
    kind === 'campaign' && (seen.at(-1) ?? 0) < (last.get(resource) ?? 0);
  for (const began = performance.now(); streams.some(isBehind); await sleep(100))
    if (performance.now() - began > LATEST_WORD_MS) return;
}

/** Who holds the calls that do not end, and what is known of them. */
export async function tellOfCalls({ database, servers, carrier }: World, tell: ChaosOptions['tell']): Promise<void> {
  for (const { url, name } of servers) {
    const figures = await (await fetch(`${url}/metrics`)).text();
    tell(`${name}: ${figures.match(/^trunkline_(calls_held|media_calls|lease_held) .*$/gm)?.join(', ')}`);
  }
  const calls = await read(
    database,
    sql<{ number: number; row: unknown }>`
      select c.to_number as number, jsonb_strip_nulls(to_jsonb(c) || jsonb_build_object('sip', to_jsonb(s) - 'messages',
        'holder_until', (select lease_until from servers v where v.id = c.server_id),
        'sip_holder_until', (select lease_until from servers v where v.id = s.server_id))) as row
      from calls c left join sip_calls s on s.room_id = c.id where c.ended_at is null limit 5`,
  );
  for (const { number, row } of calls) {
    const heard = carrier.invited().filter(({ to }) => to === number);
    tell(`${JSON.stringify(row)}; the carrier: ${JSON.stringify(heard)}`);
  }
}

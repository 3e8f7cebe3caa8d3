import { type RawBuilder, sql } from 'kysely';
import type { Tx, WorkspaceTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import type { AgentNews } from './agent-ends.ts';

/** So many failures in a row, and nobody is called for an agent any more. */
const FAILURES_TO_BRAKE = 3;
/** So many calls ring or are up of an agent that was not heard yet, less those in which it has just failed. */
const MOST_UNPROVEN = 3;
/** How long nobody is called for an agent whose model had no rate or quota left, in milliseconds. */
const LIMITED_MS = 30_000;

/** An agent of a workspace, by the ID that calls name it by. */
export interface AgentKey {
  workspaceId: string;
  agentId: string;
}

/** What calls have shown of an agent that is about to call. */
export interface HealthTerms {
  /** Whether nobody is called for it. */
  agent_failing: boolean;
  /** Whether it was heard in no call since it counts. */
  agent_unproven: boolean;
  agent_failures: number;
  /** Until when nobody is called for it, for want of its model's rate or quota. */
  agent_limited_until: Date | null;
}

/**
 * SQL for the columns of `HealthTerms`, of the rows that `joinAgent` and `joinHealth` join.
 * @param since a time besides its last change and failure that it must have been heard after
 */
export const healthTerms = (since: RawBuilder<unknown> = sql`null::timestamptz`) => sql`
  h.failing_since is not null as agent_failing, coalesce(h.failures, 0) as agent_failures,
  h.limited_until as agent_limited_until,
  coalesce(h.heard_at <= greatest(h.failed_at, a.updated_at, ${since}), true) as agent_unproven`;

/** SQL that joins what is known of an agent's calls as `h`, by its key. */
export const joinHealth = (workspaceId: RawBuilder<unknown>, agentId: RawBuilder<unknown>) => sql`
  left join lateral (select failures, failed_at, heard_at, failing_since, limited_until from agent_health
    where workspace_id = ${workspaceId} and agent_id = ${agentId} offset 0) as h on true`;

/** SQL for whether nobody is called for the agent of a call `c`. */
export const isFailing = sql`exists (select from agent_health h
  where h.workspace_id = c.workspace_id and h.agent_id = c.agent_id and h.failing_since is not null)`;

/** How many more calls of an agent that is unproven may ring or be up, by how many do and how often it has just failed. */
export const unprovenRoom = (live: number, failures: number): number => Math.max(0, MOST_UNPROVEN - failures - live);

/** SQL for how many calls of an agent ring or are up; no simulated one has an agent. */
export const liveCallsOfAgent = (workspaceId: RawBuilder<unknown>, agentId: RawBuilder<unknown>) => sql<number>`
  (select count(*) from calls where workspace_id = ${workspaceId} and agent_id = ${agentId} and ended_at is null
    and not simulated)`;

/**
 * How many more calls of an unproven agent may be placed: who asks holds that until the transaction ends, so that servers
 * don't take the same room. It counts among the live calls of the workspace, and only while an agent is unproven.
 */
export async function lockUnprovenRoom(tx: Tx, workspaceId: string, agentId: string, failures: number) {
  const [, { rows }] = await together(tx, [
    sql`select pg_advisory_xact_lock(hashtextextended(${`agent ${workspaceId} ${agentId}`}, 0))`,
    sql<{ live: number }>`select ${liveCallsOfAgent(sql`${workspaceId}::uuid`, sql`${agentId}::text`)} as live`,
  ]);
  return unprovenRoom(rows[0]!.live, failures);
}

const MOST_KNOWN = 10_000;

/** Notes what calls have shown of their agents; answers those for whom nobody is to be called from now on. */
export type NoteAgents = (tx: Tx, news: readonly AgentNews[], now: Date) => Promise<AgentKey[]>;

/**
 * Notes agents in the order of their keys, after the calls, by one statement. That one was heard is written only if it was
 * heard after what this process has written of it, so that ends don't wait for each other at its row.
 */
export function agentNotes(): NoteAgents {
  /** When agents were heard last, as written: milliseconds since the epoch. */
  const heard = new Map<string, number>();
  const keyOf = ({ workspaceId, agentId }: AgentKey) => `${workspaceId} ${agentId}`;
  const isKnown = (each: AgentNews) => (each.heardAt?.getTime() ?? 0) <= (heard.get(keyOf(each)) ?? 0);
  return async (tx, news, now) => {
    const own = news.filter((each) => each.failures > 0 || each.limitedAt || !isKnown(each));
    if (own.length === 0) return [];
    const written = await write(tx, own, now);
    if (heard.size > MOST_KNOWN) heard.clear();
    for (const each of written) {
      if (each.failures === 0 && each.heardAt) heard.set(keyOf(each), each.heardAt.getTime());
      else heard.delete(keyOf(each));
    }
    return written.filter(({ isNews }) => isNews).map(({ workspaceId, agentId }) => ({ workspaceId, agentId }));
  };
}

async function write(tx: Tx, news: readonly AgentNews[], now: Date) {
  const failures = sql`least(1000, excluded.failures + case when excluded.heard_at > h.failed_at then 0 else h.failures end)`;
  const { rows } = await sql<AgentKey & { failures: number; heardAt: Date | null; isNews: boolean }>`
    insert into agent_health as h
      (workspace_id, agent_id, failures, failed_at, reason, heard_at, limited_until, failing_since)
    select x.*, case when x.failures >= ${sql.lit(FAILURES_TO_BRAKE)} then ${now}::timestamptz end
    from unnest(${news.map((each) => each.workspaceId)}::uuid[], ${news.map((each) => each.agentId)}::text[],
      ${news.map((each) => each.failures)}::smallint[], ${news.map((each) => each.failedAt)}::timestamptz[],
      ${news.map((each) => each.reason)}::text[], ${news.map((each) => each.heardAt)}::timestamptz[],
      ${news.map(({ limitedAt }) => limitedAt && new Date(limitedAt.getTime() + LIMITED_MS))}::timestamptz[])
      as x (workspace_id, agent_id, failures, failed_at, reason, heard_at, limited_until)
    on conflict (workspace_id, agent_id) do update set failures = ${failures},
      failed_at = greatest(h.failed_at, excluded.failed_at), heard_at = greatest(h.heard_at, excluded.heard_at),
      reason = coalesce(excluded.reason, h.reason),
      limited_until = greatest(h.limited_until, excluded.limited_until),
      failing_since = case when h.failing_since is null and ${failures} >= ${sql.lit(FAILURES_TO_BRAKE)} then ${now}
        else h.failing_since end
    returning workspace_id as "workspaceId", agent_id as "agentId", failures, heard_at as "heardAt",
      coalesce(failing_since = ${now}, false) as "isNews"`.execute(tx.db);
  return rows;
}

/** Has people called for an agent again, few of them until it was heard. Answers whether nobody was. */
export async function openFailing({ db, workspaceId }: WorkspaceTx, agentId: string): Promise<boolean> {
  const { rows } = await sql<{ was: boolean }>`
    update agent_health h set failures = 0, failing_since = null
    from (select failing_since from agent_health where workspace_id = ${workspaceId} and agent_id = ${agentId}
      for no key update) as o
    where h.workspace_id = ${workspaceId} and h.agent_id = ${agentId}
    returning o.failing_since is not null as was`.execute(db);
  return rows[0]?.was ?? false;
}

import { sql } from 'kysely';
import { planCall } from '../../src/lines/telephony/simulator/plan.ts';
import { countersOf } from '../dialing/audit.ts';
import type { CallOfHistory, CampaignOfHistory, History, Placed } from './history.ts';
import { limits, MAX_CALL_SECONDS } from './limits.ts';
import type { ClientRecord } from './load/client-record.ts';
import { read } from './rest.ts';
import { SIMULATOR_SEED, SIMULATOR_SPEED, type World } from './world.ts';

interface StoredPlacement {
  room_id: string;
  to_number: string;
  attempt: number;
  placed_at: Date;
  placements: number;
  ended_at: Date | null;
  ended_by: string | null;
  ring_timeout_seconds: number;
  max_call_seconds: number;
}

/** A call as the simulated provider knows it: what it keeps, and what it had planned. */
function placedOf(row: StoredPlacement): Placed {
  const { endedAfter } = planCall(String(SIMULATOR_SEED), {
    to: row.to_number,
    attempt: row.attempt,
    ringTimeoutSeconds: row.ring_timeout_seconds,
    maxCallSeconds: row.max_call_seconds,
  });
  const placedAt = row.placed_at.getTime();
  return {
    roomId: row.room_id,
    to: Number(row.to_number.slice(1)),
    placements: row.placements,
    placedAt,
    endedAt: Math.floor(row.ended_at?.getTime() ?? placedAt + endedAfter / SIMULATOR_SPEED),
    endedBy: row.ended_by,
  };
}

/** Gathers all that is known in the end. */
export async function readHistory(
  { database, endpoints, carrier, servers }: World,
  { promised, silences, wrongAnswers, streams }: ClientRecord,
  { faults, open, loss }: Pick<History, 'faults' | 'open' | 'loss'>,
): Promise<History> {
  const rows = <Row>(query: ReturnType<typeof sql<Row>>) => read(database, query);
  const campaigns = await rows(
    sql<CampaignOfHistory>`
      select id, status, total_contacts, max_concurrency, calls_per_second, retry_policy from campaigns order by id`,
  );
  const withServer = <Seen extends { port: number }>({ port, ...call }: Seen) => ({
    ...call,
    server: servers.find(({ sip }) => sip.port === port)?.name,
  });
  for (const campaign of campaigns) Object.assign(campaign, await countersOf(database, campaign.id));
  return {
    promised,
    silences,
    wrongAnswers,
    streams,
    faults,
    open,
    loss,
    campaigns,
    invited: carrier.invited().map(withServer),
    arrived: carrier.arrived().map(withServer),
    delivered: endpoints.delivered,
    asked: endpoints.asked,
    placed: (await rows(sql<StoredPlacement>`select * from simulator_calls order by placed_at`)).map(placedOf),
    calls: await rows(sql<CallOfHistory>`
      select id, status, outcome, ended_by, to_number, from_number, direction, attempt, campaign_id, owner_kind,
        owner_id, trunk_id, dialed_at, ended_at, end_requested_at from calls order by id`),
    contacts: await rows(sql<History['contacts'][number]>`
      select id, campaign_id, phone_number, state, reason, last_outcome from campaign_contacts order by campaign_id, id`),
    runs: await rows(sql<History['runs'][number]>`
      select r.id, r.status, r.revision, r.parent_run_id,
        array(select step from workflow_run_steps s where s.run_id = r.id order by step) as steps,
        array(select node_id from workflow_run_steps s where s.run_id = r.id order by step) as nodes
      from workflow_runs r order by r.id`),
    uploads: await rows(sql<History['uploads'][number]>`
      select u.id, u.status, u.imported_rows from contact_list_uploads u join contact_lists l
        on l.workspace_id = u.workspace_id and l.id = u.list_id where l.type <> 'batch'`),
    documents: await rows(sql<History['documents'][number]>`select id, status from knowledge_base_documents`),
    events: await rows(sql<History['events'][number]>`
      select id, resource_id, revision, type from events order by resource_id, revision`),
    limits: { ...limits, maxCallMs: MAX_CALL_SECONDS * 1000 },
  };
}

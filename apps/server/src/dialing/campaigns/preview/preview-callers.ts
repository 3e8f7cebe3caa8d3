import { sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import type { Candidate } from '../../../lines/number-pools/assign-numbers.ts';
import { hasReadyMember, poolFreeAt } from '../../../lines/number-pools/free-at.ts';
import { readCandidates } from '../../../lines/number-pools/read-candidates.ts';
import { callable, joinTrunk, type Provider } from '../../../lines/phone-numbers/phone-number.ts';
import { fromE164 } from '../../calls/call.ts';
import type { CampaignRow } from '../shape-campaign.ts';

/** Whom a campaign's calls would come from. */
export interface PreviewCallers {
  /** The numbers that could call then, least recently used first. */
  candidates: Candidate[];
  /** The countries that any of its numbers may call; empty means all. */
  countries: string[];
  /** Whether the campaign could start with them. */
  canStart: boolean;
}

/** Within so long a pool that waits for its trunks' pace calls again, in milliseconds. */
const SOON_MS = 5000;

type CallerRow = Pick<CampaignRow, 'phone_number_id' | 'number_pool_id'>;

/** The numbers of which a campaign would call so many contacts from a time on. */
export async function previewCallers(
  tx: WorkspaceTx,
  campaign: CallerRow,
  { most, at, providers }: { most: number; at: Date; providers: readonly Provider[] },
): Promise<PreviewCallers> {
  const { number_pool_id: poolId } = campaign;
  if (poolId === null) {
    const number = await readyNumber(tx, campaign, providers);
    return {
      candidates: number ? [number] : [],
      countries: [...(number?.allowedCountries ?? [])],
      canStart: number !== undefined,
    };
  }
  const query = { workspaceId: tx.workspaceId, poolId, now: at, providers, most };
  const candidates = await readCandidates(tx, query);
  return {
    // By then others of its calls have ended.
    candidates: candidates.map((candidate) => ({ ...candidate, room: Number.POSITIVE_INFINITY })),
    countries: await countriesOf(tx, poolId),
    canStart: await hasReadyMember(tx, poolId, providers),
  };
}

/**
 * Why a campaign calls from none of its numbers at a time: none can place calls, or is of a provider that is configured, their trunks are paused, those that can
 * have as many up as they may, or wait for their trunks.
 */
export async function whyNoCaller(
  tx: WorkspaceTx,
  campaign: CallerRow,
  at: Date,
  providers: readonly Provider[],
): Promise<'no_caller_id' | 'trunk_paused' | 'limit_reached' | 'trunk_busy' | undefined> {
  const { number_pool_id: poolId } = campaign;
  if (poolId === null) return whyNotFrom(tx, campaign, at, providers);
  const query = { workspaceId: tx.workspaceId, poolId, now: at, providers };
  const freeAt = await poolFreeAt(tx, query);
  if (!freeAt) return 'no_caller_id';
  if (freeAt > at) return freeAt.getTime() <= at.getTime() + SOON_MS ? 'trunk_busy' : 'no_caller_id';
  return (await readCandidates(tx, { ...query, most: 1 })).length > 0 ? undefined : 'limit_reached';
}

/** The same of a campaign's own number. */
async function whyNotFrom(tx: WorkspaceTx, campaign: CallerRow, at: Date, providers: readonly Provider[]) {
  const { rows } = await sql<{ callable: boolean | null; status: string | null; busy: boolean | null }>`
    select ${callable} and n.provider = any(${providers}::text[]) as callable, t.status, t.next_start_at > ${at} or h.slowed_until > ${at} or t.max_channels <= (
      select count(*) from calls where trunk_id = t.id and ended_at is null) as busy
    from phone_numbers n ${joinTrunk}
    left join trunk_health h on h.workspace_id = t.workspace_id and h.trunk_id = t.id
    where n.workspace_id = ${tx.workspaceId} and n.id = ${campaign.phone_number_id}`.execute(tx.db);
  const [number] = rows;
  if (!number?.callable) return number?.status === 'paused' ? 'trunk_paused' : 'no_caller_id';
  return number.busy ? 'trunk_busy' : undefined;
}

/** The campaign's number, if it can place calls now. */
async function readyNumber(
  tx: WorkspaceTx,
  campaign: CallerRow,
  providers: readonly Provider[],
): Promise<Candidate | undefined> {
  const number = await tx.db
    .selectFrom('phone_numbers as n')
    .select(['id', 'phone_number', 'provider', 'trunk_id', 'country', 'allowed_outbound_countries'])
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', campaign.phone_number_id)
    .where('provider', 'in', providers)
    .where(callable)
    .executeTakeFirst();
  return (
    number && {
      id: number.id,
      fromNumber: fromE164(number.phone_number),
      provider: number.provider,
      trunkId: number.trunk_id,
      country: number.country,
      allowedCountries: number.allowed_outbound_countries,
      room: Number.POSITIVE_INFINITY,
      lastUsed: 0,
    }
  );
}

/** The countries that any number of a pool may call; empty means all. */
export async function countriesOf(tx: WorkspaceTx, poolId: string): Promise<string[]> {
  const { rows } = await sql<{ countries: string[] }>`
    select distinct n.allowed_outbound_countries as countries
    from number_usage u join phone_numbers n on n.workspace_id = u.workspace_id and n.id = u.phone_number_id
    where u.workspace_id = ${tx.workspaceId} and u.pool_id = ${poolId}`.execute(tx.db);
  if (rows.some(({ countries }) => countries.length === 0)) return [];
  return [...new Set(rows.flatMap(({ countries }) => countries))];
}

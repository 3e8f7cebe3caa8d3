import { sql } from 'kysely';
import { fromE164 } from '../../calls/call.ts';
import type { WorkspaceTx } from '../../database/database.ts';
import type { Candidate } from '../../number-pools/assign-numbers.ts';
import { hasReadyMember, poolFreeAt } from '../../number-pools/free-at.ts';
import { readCandidates } from '../../number-pools/read-candidates.ts';
import { callable, providers } from '../../phone-numbers/phone-number.ts';
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

type CallerRow = Pick<CampaignRow, 'phone_number_id' | 'number_pool_id'>;

/** The numbers of which a campaign would call so many contacts from a time on. */
export async function previewCallers(
  tx: WorkspaceTx,
  campaign: CallerRow,
  most: number,
  at: Date,
): Promise<PreviewCallers> {
  const { number_pool_id: poolId } = campaign;
  if (poolId === null) {
    const number = await readyNumber(tx, campaign);
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
    canStart: await hasReadyMember(tx, poolId),
  };
}

/** Why a campaign calls from none of its numbers at a time: none can place calls, or all that can have as many up as they may. */
export async function whyNoCaller(
  tx: WorkspaceTx,
  campaign: CallerRow,
  at: Date,
): Promise<'no_caller_id' | 'limit_reached' | undefined> {
  const { number_pool_id: poolId } = campaign;
  if (poolId === null) return (await readyNumber(tx, campaign)) ? undefined : 'no_caller_id';
  const query = { workspaceId: tx.workspaceId, poolId, now: at, providers };
  const freeAt = await poolFreeAt(tx, query);
  if (!freeAt || freeAt > at) return 'no_caller_id';
  return (await readCandidates(tx, { ...query, most: 1 })).length > 0 ? undefined : 'limit_reached';
}

/** The campaign's number, if it can place calls now. */
async function readyNumber(tx: WorkspaceTx, campaign: CallerRow): Promise<Candidate | undefined> {
  const number = await tx.db
    .selectFrom('phone_numbers as n')
    .select(['id', 'phone_number', 'provider', 'country', 'allowed_outbound_countries'])
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', campaign.phone_number_id)
    .where(callable)
    .executeTakeFirst();
  return (
    number && {
      id: number.id,
      fromNumber: fromE164(number.phone_number),
      provider: number.provider,
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

import { withDeadline } from '../../foundation/values/deadline.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { someAtOnce } from '../../foundation/values/some-at-once.ts';
import { needsTrunk, type PhoneNumberRow } from '../phone-numbers/phone-number.ts';
import { askTrunks, TRUNK_CHECK_MS, type TrunkVerdict } from '../trunks/check-trunk.ts';
import { reasonTexts, type TrunkReason } from '../trunks/shape-trunk.ts';
import { readTrunks } from '../trunks/store.ts';
import { endsByCheck } from '../trunks/trunk.ts';
import type { NumberPoolDeps } from './deps.ts';
import { poolNumbers } from './list-members.ts';
import { findPool } from './store.ts';

type Check = components['schemas']['NumberPoolTrunkCheck'];
type Checks = components['schemas']['NumberPoolTrunks'];

/** How many trunks are probed at a time, and how many bought numbers asked for: a pool has at most 1,000 members. */
const AT_ONCE = 100;

/**
 * Checks now, for every member of a pool, whether a call could be placed from it: trunks by a probe, bought
 * numbers by asking whether the provider still holds them for us. Nothing is kept of it. Each takes at most the time of one check, and a
 * hundred go on at a time. Throws `not_found`.
 */
export async function validateTrunks(deps: NumberPoolDeps, workspaceId: string, poolId: string): Promise<Checks> {
  const { rows, trunks } = await deps.database.inWorkspace(workspaceId, async (tx) => {
    await existing(findPool(tx, poolId));
    const rows = await poolNumbers(tx, poolId);
    return { rows, trunks: await readTrunks(tx, [...new Set(rows.flatMap((row) => row.trunk_id ?? []))]) };
  });
  const active = rows.filter((row) => row.status === 'active');
  const bought = active.filter((row) => !needsTrunk(row));
  const [verdicts, asked] = await Promise.all([
    askTrunks(deps, trunks, AT_ONCE),
    someAtOnce(AT_ONCE, bought, async (row) => [row.id, await askProvider(deps, row)] as const),
  ]);
  const ofBought = new Map(asked);
  const details = rows.map((row): Check => {
    const { phone_number: phoneNumber, status } = row;
    if (status !== 'active') return { phoneNumber, valid: false, reason: `The number is ${status}.` };
    return ofBought.get(row.id) ?? ofTrunk(deps, row, row.trunk_id === null ? undefined : verdicts.get(row.trunk_id));
  });
  const invalidNumbers = details.filter(({ valid }) => !valid).map(({ phoneNumber }) => phoneNumber);
  return { valid: details.length - invalidNumbers.length, invalid: invalidNumbers.length, invalidNumbers, details };
}

function ofTrunk(deps: NumberPoolDeps, row: PhoneNumberRow, verdict: TrunkVerdict | undefined): Check {
  const { phone_number: phoneNumber, trunk_id, trunk_reason: paused } = row;
  const invalid = (reason: string): Check => ({ phoneNumber, valid: false, reason });
  if (trunk_id === null) return invalid('The number is on no trunk.');
  if (paused !== null && !endsByCheck(paused)) return invalid(reasonTexts[paused as TrunkReason]);
  if (!verdict) return invalid(`The trunk did not answer within ${patience(deps)}.`);
  const { valid, reason, rttMs } = verdict;
  return {
    phoneNumber,
    valid,
    ...(reason && { reason: reasonTexts[reason] }),
    ...(rttMs !== undefined && { rttMs: Math.round(rttMs) }),
  };
}

const patience = ({ trunkCheckMs = TRUNK_CHECK_MS }: NumberPoolDeps) => `${trunkCheckMs / 1000} seconds`;

/** A number was bought under its own UUID, by which the provider finds it. */
async function askProvider(deps: NumberPoolDeps, row: PhoneNumberRow): Promise<Check> {
  const { phone_number: phoneNumber, provider } = row;
  const invalid = (reason: string): Check => ({ phoneNumber, valid: false, reason });
  const market = deps.markets.get(provider);
  if (!market) return invalid(`The provider ${provider} is not configured any more.`);
  const from = performance.now();
  try {
    const ms = deps.trunkCheckMs ?? TRUNK_CHECK_MS;
    const held = await withDeadline(ms, () => market.lookupNumberPurchase(row.id));
    if (held?.phoneNumber !== phoneNumber) return invalid(`The provider ${provider} does not hold this number for us.`);
    return { phoneNumber, valid: true, rttMs: Math.round(performance.now() - from) };
  } catch (error) {
    deps.log.warn({ err: error, phoneNumberId: row.id }, 'a provider could not be asked about a number');
    return invalid(`The provider ${provider} did not answer within ${patience(deps)}, or failed.`);
  }
}

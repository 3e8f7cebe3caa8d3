import type { components } from '@trunkline/client/schema';
import { checkTrunks, TRUNK_CHECK_MS, type TrunkVerdict } from '../phone-numbers/check-trunks.ts';
import { withDeadline } from '../phone-numbers/deadline.ts';
import type { PhoneNumberRow } from '../phone-numbers/phone-number.ts';
import { someAtOnce } from '../phone-numbers/some-at-once.ts';
import { notFound } from '../service-error.ts';
import type { NumberPoolDeps } from './deps.ts';
import { poolNumbers } from './list-members.ts';
import { findPool } from './store.ts';

type Check = components['schemas']['NumberPoolTrunkCheck'];
type Checks = components['schemas']['NumberPoolTrunks'];

/** How many trunks are probed at a time, and how many bought numbers asked for: a pool has at most 1,000 members. */
const AT_ONCE = 100;

/** Why a trunk takes no calls, for a person. */
const reasons: Record<TrunkVerdict['detail'], string> = {
  ok: 'The trunk takes no calls.',
  simulated: 'The trunk takes no calls.',
  unreachable: 'The trunk did not answer.',
  credentials_rejected: 'The trunk rejected the username or password.',
  tls_failure: 'No TLS connection to the trunk could be made.',
  dns_failure: 'The host of the trunk has no address.',
  no_prober: 'No provider is configured that places calls through trunks.',
  no_trunk: 'The number has no termination URL.',
  password_unreadable: 'The stored password of the trunk cannot be read. Set it again.',
};

/**
 * Checks now, for every member of a pool, whether a call could be placed from it: trunks by a probe, whose result is kept,
 * bought numbers by asking whether the provider still holds them for us. Each takes at most the time of one check, and a
 * hundred go on at a time. Throws `not_found`.
 */
export async function validateTrunks(deps: NumberPoolDeps, workspaceId: string, poolId: string): Promise<Checks> {
  const rows = await deps.database.inWorkspace(workspaceId, async (tx) => {
    if (!(await findPool(tx, poolId))) throw notFound();
    return poolNumbers(tx, poolId);
  });
  const active = rows.filter((row) => row.status === 'active');
  const imported = active.filter((row) => row.provider === 'sip');
  const bought = active.filter((row) => row.provider !== 'sip');
  const [verdicts, asked] = await Promise.all([
    checkTrunks(deps, imported, AT_ONCE),
    someAtOnce(AT_ONCE, bought, async (row) => [row.id, await askProvider(deps, row)] as const),
  ]);
  const ofBought = new Map(asked);
  const details = rows.map((row): Check => {
    const { phone_number: phoneNumber, status } = row;
    if (status !== 'active') return { phoneNumber, valid: false, reason: `The number is ${status}.` };
    return ofBought.get(row.id) ?? ofTrunk(deps, phoneNumber, verdicts.get(row.id));
  });
  const invalidNumbers = details.filter(({ valid }) => !valid).map(({ phoneNumber }) => phoneNumber);
  return { valid: details.length - invalidNumbers.length, invalid: invalidNumbers.length, invalidNumbers, details };
}

function ofTrunk(deps: NumberPoolDeps, phoneNumber: string, verdict: TrunkVerdict | undefined): Check {
  if (!verdict) return { phoneNumber, valid: false, reason: `The trunk did not answer within ${patience(deps)}.` };
  const { valid, detail, rttMs } = verdict;
  return {
    phoneNumber,
    valid,
    ...(!valid && { reason: reasons[detail] }),
    ...(rttMs !== undefined && { rttMs: Math.round(rttMs) }),
  };
}

const patience = ({ trunkCheckMs = TRUNK_CHECK_MS }: NumberPoolDeps) => `${trunkCheckMs / 1000} seconds`;

/** A number was bought under its own UUID, by which the provider finds it. */
async function askProvider(deps: NumberPoolDeps, row: PhoneNumberRow): Promise<Check> {
  const { phone_number: phoneNumber, provider } = row;
  const invalid = (reason: string): Check => ({ phoneNumber, valid: false, reason });
  const gateway = deps.gateways.find(({ name }) => name === provider);
  if (!gateway) return invalid(`The provider ${provider} is not configured any more.`);
  const from = performance.now();
  try {
    const ms = deps.trunkCheckMs ?? TRUNK_CHECK_MS;
    const held = await withDeadline(ms, () => gateway.lookupNumberPurchase(row.id));
    if (held?.phoneNumber !== phoneNumber) return invalid(`The provider ${provider} does not hold this number for us.`);
    return { phoneNumber, valid: true, rttMs: Math.round(performance.now() - from) };
  } catch (error) {
    deps.log.warn({ err: error, phoneNumberId: row.id }, 'a provider could not be asked about a number');
    return invalid(`The provider ${provider} did not answer within ${patience(deps)}, or failed.`);
  }
}

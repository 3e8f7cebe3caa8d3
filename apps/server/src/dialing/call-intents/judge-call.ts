import { sql } from 'kysely';
import { readPhoneNumber } from '../../audience/contact-lists/reading/phone-number.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { hasReadyMember } from '../../lines/number-pools/free-at.ts';
import { providers } from '../../lines/phone-numbers/phone-number.ts';
import { numbersNotCalled } from '../../platform/do-not-call/do-not-call-numbers.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import { toE164 } from '../calls/call.ts';
import {
  COUNTRY_NOT_ALLOWED,
  type DialObstacle,
  hourTerms,
  type IsSimulated,
  mayDial,
  OPERATOR_LIMIT,
  type PersonTerms,
  readNumber,
} from '../calls/may-dial.ts';
import type { QuietHoursRow } from '../calls/quiet-hours.ts';
import { countriesOf } from '../campaigns/preview/preview-callers.ts';
import type { NewIntent } from './intent.ts';

type RefusalReason = 'invalid_number' | 'do_not_call' | DialObstacle;

/** The `call_refused` of a call that would never be placed. */
function refused(reason: RefusalReason, message: string): ServiceError {
  return new ServiceError('call_refused', message, { details: [{ path: '/body/toNumber', message, reason }] });
}

/**
 * The number to call, without its plus.
 * @throws `call_refused` for what is no number that can be called
 */
export function readCallee(toNumber: string, defaultCountry: string | undefined): number {
  const read = defaultCountry === undefined ? undefined : readPhoneNumber(toNumber, defaultCountry);
  if (read && 'reason' in read) throw refused('invalid_number', read.reason);
  const number = readNumber(read ? `+${read.digits}` : toNumber);
  if (number) return number.toNumber;
  const help = 'Write it in E.164 form, such as +14155550142, or give a defaultCountry.';
  throw refused('invalid_number', `This is not a number that can be called. ${help}`);
}

/** Nothing is counted before it is placed, and dialing that is paused now may go on then. */
const notCounted = {
  ...{
    max_concurrent_calls: null,
    max_calls_per_day: null,
    max_attempts_per_person_per_day: null,
    max_attempts_per_person: null,
  },
  ...{ live: 0, today: 0, dialing_paused: false },
};

type JudgedTerms = QuietHoursRow &
  Pick<
    PersonTerms,
    'allowed_countries' | 'premium_rate_allowed' | 'allowed_outbound_countries' | 'trusted_numbers' | 'provider'
  >;

/**
 * Why a call waits once its time has come, and until when, by what a claim goes by; nothing where it doesn't.
 * @throws `call_refused` where its callee is not to be called, or not before it expires
 */
export async function judgeCall(
  tx: WorkspaceTx,
  intent: NewIntent,
  { operator, isSimulated }: { operator: OperatorLimits; isSimulated: IsSimulated },
): Promise<{ reason: DialObstacle; until: Date } | undefined> {
  const { toNumber, fromNumber, phoneNumberId, numberPoolId, startAt, expiresAt } = intent;
  const notCalled = await numbersNotCalled(tx, [toNumber]);
  const { rows } = await sql<JudgedTerms>`
    select w.allowed_countries, w.premium_rate_allowed, n.allowed_outbound_countries, n.provider, ${hourTerms}
    from workspaces w left join phone_numbers n on n.workspace_id = w.id and n.id = ${phoneNumberId}
    where w.id = ${tx.workspaceId}`.execute(tx.db);
  const ofCaller = numberPoolId === null ? rows[0]!.allowed_outbound_countries : await countriesOf(tx, numberPoolId);
  const caller = {
    phone_number_id: null,
    from_number: fromNumber === null ? null : toE164(fromNumber),
    trunk_id: null,
    pooled: false,
  };
  const terms = {
    ...{ ...rows[0]!, ...notCounted, ...caller, allowed_outbound_countries: ofCaller },
    operator: { ...operator, maxCallsPerDay: undefined },
  };
  const { provider } = rows[0]!;
  const simulators = providers.filter((each) => isSimulated(each));
  const simulated =
    numberPoolId === null
      ? provider !== null && isSimulated(provider) === true
      : await hasReadyMember(tx, numberPoolId, simulators);
  const judged = { ...terms, do_not_call: notCalled.has(toNumber) };
  const answer = mayDial(toNumber, judged, startAt, simulated, intent.hours);
  if (!answer) return undefined;
  if ('refused' in answer) {
    if (answer.refused === 'do_not_call') throw refused(answer.refused, 'This number is on the do-not-call list.');
    throw refused(answer.refused, toNumber === fromNumber ? CALLS_ITSELF : 'This number can not be called.');
  }
  const { blocked, until } = answer;
  if (blocked === 'country_not_allowed') throw refused(blocked, COUNTRY_NOT_ALLOWED);
  if (blocked === 'operator_limit') throw refused(blocked, OPERATOR_LIMIT);
  if (!until) throw refused(blocked, NO_COMMON_HOUR);
  if (until >= expiresAt) {
    const when = `Where the callee is, calls are closed until ${until.toISOString()}`;
    throw refused(blocked, `${when}, when this one has expired. Give a later expiresAt${orElse(blocked)}.`);
  }
  return { reason: blocked, until };
}

/** What else lets a call go that would expire before hours open. */
function orElse(closed: DialObstacle): string {
  if (closed === 'outside_window') return ', or other callingWindows';
  if (closed !== 'quiet_hours') return '';
  return ', or change quietHours or quietWindows of the workspace; its trustedNumbers are free of the hours that it begins with';
}

const CALLS_ITSELF = 'This is the number that calls: it can not call itself.';
const NO_COMMON_HOUR =
  'The callee may be in several time zones, and the hours are never open in all of them at once. Give other ' +
  'callingWindows, or calleeTimeZone: campaign.';

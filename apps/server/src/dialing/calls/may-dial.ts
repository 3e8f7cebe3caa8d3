import { sql } from 'kysely';
import { nextUtcDay } from '../../foundation/values/clock.ts';
import { isE164 } from '../../foundation/values/e164.ts';
import { type CallingArea, refusalOf } from '../../lines/phone-numbers/may-call.ts';
import { findPlan } from '../../lines/phone-numbers/numbering-plan.ts';
import { type CallLimits, leftOfLimits, type UsedOfLimits } from '../../platform/workspace/limits.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import { fromE164 } from './call.ts';
import type { CalleeHours } from './callee-hours.ts';
import {
  ALWAYS,
  type CallingHours,
  type ClosedReason,
  closedReason,
  neverOpenTogether,
  nextCallingWindow,
} from './calling-hours.ts';
import type { Caller } from './queue-calls.ts';
import { closedHours, isFreeOfDefault, type QuietHoursRow, withoutDefault } from './quiet-hours.ts';
import { areReadable, zonesOfContact } from './zones-of-contact.ts';

/** Whether no telephone rings for numbers of a provider; undefined for one that isn't configured here. */
export type IsSimulated = (provider: string) => boolean | undefined;

/** Why a person is not to be called, now or later. Batches and previews say it ahead, runs and claims when they dial. */
export type Refusal = 'invalid_number' | 'do_not_call' | 'operator_limit' | 'country_not_allowed';

/** `country_not_allowed` in words, and what would let the call go. */
export const COUNTRY_NOT_ALLOWED =
  "Calls to this number are closed: its country is not among the allowedCountries of the workspace's limits or the " +
  'allowedOutboundCountries of the number that calls; or it is a premium-rate number, or one that costs as much (a ' +
  'personal number, a satellite or international network), which premiumRateAllowed of the limits opens.';

/** `operator_limit` in words. */
export const OPERATOR_LIMIT =
  'Whoever runs this server does not let it place this call: no workspace calls the country or the kind of this number, ' +
  'or this workspace has placed as many calls as it may today (UTC). No API key changes that.';

/**
 * Why a number is refused, the first reason of it; nothing where it may be called.
 * @param toNumber E.164 without the plus
 */
export function dialRefusal(toNumber: number, isDoNotCall: boolean, area: CallingArea): Refusal | undefined {
  return isDoNotCall ? 'do_not_call' : refusalOf(area, toNumber);
}

/** A number that somebody wants called: its digits, and its country where it has one. */
export interface ReadNumber {
  /** E.164 without the plus. */
  toNumber: number;
  country: string | undefined;
}

/** Reads a number in E.164; nothing for what is none, or that no numbering plan has, emergency and short numbers among it. */
export function readNumber(phoneNumber: string): ReadNumber | undefined {
  const plan = isE164(phoneNumber) ? findPlan(phoneNumber.slice(1)) : undefined;
  return plan && { toNumber: fromE164(phoneNumber), country: plan.country };
}

/**
 * Where a workspace may call from some numbers: both must allow it. Empty or absent means everywhere.
 * @param caller E.164 of the number that calls, where it is one
 */
export const callingArea = (
  workspace: { allowed_countries: string[] | null; premium_rate_allowed: boolean; operator: OperatorLimits },
  ofCaller: string[] | null,
  caller: string | null = null,
): CallingArea => ({
  countries: [workspace.allowed_countries, ofCaller],
  premiumRate: workspace.premium_rate_allowed,
  operator: workspace.operator,
  ...(caller !== null && { caller: fromE164(caller) }),
});

/** What a workspace and the one number that is to call say of a call. */
export interface DialTerms extends CallLimits {
  /** Of the workspace's do-not-call numbers, read before or with them. */
  do_not_call_revision: number;
  allowed_countries: string[] | null;
  premium_rate_allowed: boolean;
  /** Null as all of the number, where it can't place calls now. */
  phone_number_id: string | null;
  /** E.164. */
  from_number: string | null;
  provider: string | null;
  trunk_id: string | null;
  allowed_outbound_countries: string[] | null;
  /** Whether the number is a member of a pool, on which its calls then count too. */
  pooled: boolean;
}

/** SQL for the columns of `DialTerms`, but for what whoever runs the server says, of the row `w` of `workspaces` and the row `n` of a number that is `callable`. */
export const dialTerms = sql`
  w.do_not_call_revision, w.allowed_countries, w.premium_rate_allowed, w.max_concurrent_calls, w.max_calls_per_day,
  w.max_attempts_per_person_per_day, w.max_attempts_per_person, n.id as phone_number_id, n.phone_number as from_number, n.provider, n.trunk_id,
  n.allowed_outbound_countries, exists (select from number_usage u where u.workspace_id = w.id
    and u.phone_number_id = n.id and u.pool_id is not null) as pooled`;

/** The number of some terms, if it can place calls now and its provider is configured here. */
export function callerOf(terms: Omit<DialTerms, 'do_not_call_revision'>, isSimulated: IsSimulated): Caller | undefined {
  const { phone_number_id: id, from_number, provider, pooled, trunk_id: trunkId } = terms;
  if (id === null || from_number === null || provider === null) return undefined;
  const simulated = isSimulated(provider);
  return simulated === undefined
    ? undefined
    : { id, fromNumber: fromE164(from_number), provider, simulated, pooled, trunkId };
}

/** What stands in the way of a call now; the words are those of a campaign contact's `reason`. */
export type DialObstacle =
  | ('dialing_paused' | 'operator_limit' | 'country_not_allowed' | 'limit_reached' | 'no_common_hour')
  | 'invalid_time_zone'
  | ClosedReason;

/** A person who is refused for good, whatever is opened later. */
type NeverDialled = Exclude<Refusal, 'operator_limit' | 'country_not_allowed'>;
const isForGood = (refusal: Refusal): refusal is NeverDialled =>
  refusal !== 'operator_limit' && refusal !== 'country_not_allowed';

/** What is known of a workspace when one person is to be called, beside the number that calls. */
export interface PersonTerms extends Omit<DialTerms, 'do_not_call_revision'>, UsedOfLimits, QuietHoursRow {
  trusted_numbers: number[];
  dialing_paused: boolean;
  do_not_call: boolean;
}

/** SQL for the columns of a row `w` of `workspaces` that say at which hours nobody is called, and who is free of them. */
export const hourTerms = sql`w.quiet_hours_start, w.quiet_hours_end, w.quiet_hours_are_default, w.trusted_numbers,
  w.quiet_windows, w.holidays`;

/**
 * Whether one person may be called now, as a claim decides it for many: refused for good, blocked for now (with the time
 * when it may be different, where that is known), or neither.
 * @param toNumber E.164 without the plus
 * @param simulated whether no telephone would ring, by the number that calls
 */
export function mayDial(
  toNumber: number,
  terms: PersonTerms,
  now: Date,
  simulated: boolean,
  callee: CalleeHours = {},
): { refused: NeverDialled } | { blocked: DialObstacle; until?: Date } | undefined {
  const area = callingArea(terms, terms.allowed_outbound_countries, terms.from_number);
  const refused = dialRefusal(toNumber, terms.do_not_call, area);
  if (refused && isForGood(refused)) return { refused };
  if (terms.dialing_paused) return { blocked: 'dialing_paused' };
  if (refused) return { blocked: refused };
  const ofWorkspace = isFreeOfDefault(terms, toNumber, simulated) ? withoutDefault(terms) : terms;
  const quiet = closedHours(ofWorkspace, callee.holidays);
  const closed = closedNow(toNumber, { windows: callee.callingWindows ?? ALWAYS, ...quiet }, callee, now);
  if (closed) return closed;
  const left = leftOfLimits(terms, terms);
  if (left.now <= 0) return { blocked: 'limit_reached' };
  return left.today <= 0 ? { blocked: left.reasonOfDay, until: nextUtcDay(now) } : undefined;
}

/** Where a number of which the plan knows no time zone is taken to be, unless somebody says otherwise. */
const UNKNOWN_ZONE = 'UTC';

/** Where one person may be, as far as that is known: IANA names. */
export function zonesOfCallee(
  toNumber: number,
  { calleeTimeZone, timezone, ownTimezone }: CalleeHours,
): readonly string[] {
  const zones = zonesOfContact(calleeTimeZone ?? 'strictest', ownTimezone ?? null, toNumber).timezones;
  return zones.length > 0 ? zones : [timezone ?? UNKNOWN_ZONE];
}

/** In the callee's own time, as far as that is known. */
function closedNow(toNumber: number, hours: CallingHours, callee: CalleeHours, now: Date) {
  if (hours.windows === ALWAYS && hours.quiet.length === 0 && hours.holidays.size === 0) return undefined;
  const timezones = zonesOfCallee(toNumber, callee);
  if (!areReadable(timezones)) return { blocked: 'invalid_time_zone' as const };
  const reason = closedReason(hours, timezones, now);
  if (!reason) return undefined;
  const window = nextCallingWindow(hours, timezones, now);
  if (neverOpenTogether(hours, timezones, window, now)) return { blocked: 'no_common_hour' as const };
  return { blocked: reason, until: window.opensAt };
}

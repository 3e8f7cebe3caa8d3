import type { Updateable } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Schema } from '../../foundation/database/schema.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { refuse, ServiceError } from '../../foundation/values/service-error.ts';
import { beginFeed } from '../journal/event-feed.ts';
import { changeWorkspace, lockWorkspace, type WorkspaceRow } from './store.ts';

type Body = components['schemas']['UpdateWorkspace'];
/** What changes need of the server around them. */
export interface HourDeps {
  /** Runs in the transaction that changes the quiet hours: what was computed from them is computed anew. */
  onHoursChanged(tx: WorkspaceTx): Promise<void>;
  /** Whether text in E.164 form is a number that can be called. */
  isNumber(phoneNumber: string): boolean;
}

type Changes = Updateable<Schema['workspaces']>;

/**
 * Changes what the body names. When the quiet hours or holidays become others, or who is free of them, `onHoursChanged`
 * runs in the same transaction. Throws `changed_meanwhile`, and `invalid_request` for quiet hours that end when they start, and for trusted numbers
 * that no plan has.
 * @returns the workspace, and whether the body named anything
 */
export async function updateWorkspace(
  tx: WorkspaceTx,
  body: Body,
  options: { now: Date; ifMatch: string | undefined } & HourDeps,
): Promise<{ row: WorkspaceRow; changed: boolean }> {
  const changes = {
    ...(body.name !== undefined && { name: body.name }),
    ...limitChanges(body),
    ...hourChanges(body),
    ...(body.eventFeed !== undefined && { event_feed: body.eventFeed }),
    ...(body.trustedNumbers && { trusted_numbers: readTrusted(body.trustedNumbers, options.isNumber) }),
  };
  const before = await lockWorkspace(tx);
  checkEdition(before, options.ifMatch);
  if (Object.keys(changes).length === 0) return { row: before, changed: false };
  const after = await changeWorkspace(tx, { ...changes, edition: before.edition + 1 }, options.now);
  if (after.event_feed && !before.event_feed) await beginFeed(tx);
  if (hoursOf(after) !== hoursOf(before)) await options.onHoursChanged(tx);
  return { row: after, changed: true };
}

const hoursOf = (row: WorkspaceRow) =>
  JSON.stringify([
    ...[row.quiet_hours_start, row.quiet_hours_end, row.quiet_hours_are_default, row.quiet_windows],
    ...[row.holidays, row.trusted_numbers],
  ]);

function limitChanges({ limits = {} }: Body): Changes {
  const { maxConcurrentCalls, maxAttemptsPerPersonPerDay, maxCallsPerDay, maxNumbersPerDay } = limits;
  const { allowedCountries, premiumRateAllowed, maxAttemptsPerPerson } = limits;
  return {
    ...(maxConcurrentCalls !== undefined && { max_concurrent_calls: maxConcurrentCalls }),
    ...(maxAttemptsPerPersonPerDay !== undefined && { max_attempts_per_person_per_day: maxAttemptsPerPersonPerDay }),
    ...(maxAttemptsPerPerson !== undefined && {
      max_attempts_per_person: maxAttemptsPerPerson?.length ? JSON.stringify(maxAttemptsPerPerson) : null,
    }),
    ...(maxCallsPerDay !== undefined && { max_calls_per_day: maxCallsPerDay }),
    ...(maxNumbersPerDay !== undefined && { max_numbers_per_day: maxNumbersPerDay }),
    ...(premiumRateAllowed !== undefined && { premium_rate_allowed: premiumRateAllowed }),
    ...(allowedCountries !== undefined && { allowed_countries: allowedCountries?.length ? allowedCountries : null }),
  };
}

function hourChanges({ quietHours, quietWindows, holidays }: Body): Changes {
  const { start, end } = quietHours ?? { start: null, end: null };
  if (start !== null && start === end) {
    const message =
      'quietHours end when they start. Give an end that differs, or { start: 0, end: 1440 } for the whole day.';
    throw new ServiceError('invalid_request', message, { details: [{ path: '/body/quietHours', message }] });
  }
  return {
    ...(quietHours !== undefined && { quiet_hours_start: start, quiet_hours_end: end, quiet_hours_are_default: false }),
    ...(quietWindows !== undefined && { quiet_windows: quietWindows && JSON.stringify(quietWindows) }),
    ...(holidays !== undefined && { holidays: holidays.toSorted() }),
  };
}

/** Numbers of E.164 that a plan has, so that a slip doesn't stand there for ever without saying anything. */
function readTrusted(numbers: readonly string[], isNumber: (phoneNumber: string) => boolean): number[] {
  const details = numbers.flatMap((number, at) =>
    isNumber(number)
      ? []
      : [{ path: `/body/trustedNumbers/${at}`, message: `${number} is no number that can be called` }],
  );
  refuse(details);
  return numbers.map((number) => Number(number.slice(1)));
}

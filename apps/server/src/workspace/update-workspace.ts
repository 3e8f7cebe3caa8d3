import type { components } from '@trunkline/client/schema';
import type { Updateable } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import type { Schema } from '../database/schema.ts';
import { ServiceError } from '../service-error.ts';
import { changeWorkspace, lockWorkspace, type WorkspaceRow } from './store.ts';

type Body = components['schemas']['UpdateWorkspace'];
type Changes = Updateable<Schema['workspaces']>;

/**
 * Changes what the body names. When the quiet hours or holidays become others, `onHoursChanged` runs in the same
 * transaction. Throws `invalid_request` for quiet hours that end when they start.
 * @returns the workspace, and whether the body named anything
 */
export async function updateWorkspace(
  tx: WorkspaceTx,
  body: Body,
  options: { now: Date; onHoursChanged: (tx: WorkspaceTx) => Promise<void> },
): Promise<{ row: WorkspaceRow; changed: boolean }> {
  const changes = { ...(body.name !== undefined && { name: body.name }), ...limitChanges(body), ...hourChanges(body) };
  const before = await lockWorkspace(tx);
  if (Object.keys(changes).length === 0) return { row: before, changed: false };
  const after = await changeWorkspace(tx, changes, options.now);
  if (hoursOf(after) !== hoursOf(before)) await options.onHoursChanged(tx);
  return { row: after, changed: true };
}

const hoursOf = (row: WorkspaceRow) =>
  JSON.stringify([row.quiet_hours_start, row.quiet_hours_end, row.quiet_windows, row.holidays]);

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
    ...(quietHours !== undefined && { quiet_hours_start: start, quiet_hours_end: end }),
    ...(quietWindows !== undefined && { quiet_windows: quietWindows && JSON.stringify(quietWindows) }),
    ...(holidays !== undefined && { holidays: holidays.toSorted() }),
  };
}

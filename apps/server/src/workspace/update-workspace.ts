import type { components } from '@trunkline/client/schema';
import type { Updateable } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import type { Schema } from '../database/schema.ts';
import { ServiceError } from '../service-error.ts';
import { changeWorkspace, lockWorkspace, type WorkspaceRow } from './store.ts';

type Body = components['schemas']['UpdateWorkspace'];
type Changes = Updateable<Schema['workspaces']>;

/**
 * Changes what the body names. When the quiet hours become others, `onHoursChanged` runs in the same transaction. Throws
 * `invalid_request` for quiet hours that don't start before they end.
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
  const sameHours =
    after.quiet_hours_start === before.quiet_hours_start && after.quiet_hours_end === before.quiet_hours_end;
  if (!sameHours) await options.onHoursChanged(tx);
  return { row: after, changed: true };
}

function limitChanges({ limits = {} }: Body): Changes {
  const { maxConcurrentCalls, maxAttemptsPerPersonPerDay, maxCallsPerDay, maxNumbersPerDay } = limits;
  const { allowedCountries, premiumRateAllowed } = limits;
  return {
    ...(maxConcurrentCalls !== undefined && { max_concurrent_calls: maxConcurrentCalls }),
    ...(maxAttemptsPerPersonPerDay !== undefined && { max_attempts_per_person_per_day: maxAttemptsPerPersonPerDay }),
    ...(maxCallsPerDay !== undefined && { max_calls_per_day: maxCallsPerDay }),
    ...(maxNumbersPerDay !== undefined && { max_numbers_per_day: maxNumbersPerDay }),
    ...(premiumRateAllowed !== undefined && { premium_rate_allowed: premiumRateAllowed }),
    ...(allowedCountries !== undefined && { allowed_countries: allowedCountries?.length ? allowedCountries : null }),
  };
}

function hourChanges({ quietHours }: Body): Changes {
  if (quietHours === undefined) return {};
  if (quietHours === null) return { quiet_hours_start: null, quiet_hours_end: null };
  const { start, end } = quietHours;
  if (start < end) return { quiet_hours_start: start, quiet_hours_end: end };
  const message = 'must start before they end; quiet hours do not run past midnight';
  throw new ServiceError('invalid_request', `quietHours ${message}.`, {
    details: [{ path: '/body/quietHours', message }],
  });
}

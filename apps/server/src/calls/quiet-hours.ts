import type { Row } from '../database/schema.ts';
import { type CallingHours, EVERY_DAY } from './calling-hours.ts';

/** The hours in which a workspace calls nobody, as its row holds them. */
export type QuietHoursRow = Pick<
  Row<'workspaces'>,
  'quiet_hours_start' | 'quiet_hours_end' | 'quiet_windows' | 'holidays'
>;

/**
 * When nobody is called: `quietHours` and `quietWindows` of the workspace, its holidays and others.
 * @param holidays dates of a campaign
 */
export function closedHours(
  { quiet_hours_start: start, quiet_hours_end: end, quiet_windows, holidays: ofWorkspace }: QuietHoursRow,
  holidays: readonly string[] = [],
): Pick<CallingHours, 'quiet' | 'holidays'> {
  const daily = start === null || end === null ? [] : [{ days: EVERY_DAY, start, end }];
  return { quiet: [...daily, ...(quiet_windows ?? [])], holidays: new Set([...ofWorkspace, ...holidays]) };
}

import type { Row } from '../../foundation/database/schema.ts';
import { type CallingHours, EVERY_DAY } from './calling-hours.ts';

/** The hours in which a workspace calls nobody, as its row holds them. */
export type QuietHoursRow = Pick<
  Row<'workspaces'>,
  'quiet_hours_start' | 'quiet_hours_end' | 'quiet_hours_are_default' | 'quiet_windows' | 'holidays'
>;

/**
 * Whether a call is free of quiet hours that nobody has set: no telephone rings, or it is one of the workspace's own. All
 * who dial ask here, with the number that would show.
 * @param toNumber E.164 without the plus
 */
export const isFreeOfDefault = (
  { trusted_numbers }: Pick<Row<'workspaces'>, 'trusted_numbers'>,
  toNumber: number,
  simulated: boolean,
): boolean => simulated || trusted_numbers.includes(toNumber);

/** The hours of calls that are free of the default: those that somebody has set. */
export const withoutDefault = <Hours extends QuietHoursRow>(hours: Hours): Hours =>
  hours.quiet_hours_are_default ? { ...hours, quiet_hours_start: null, quiet_hours_end: null } : hours;

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

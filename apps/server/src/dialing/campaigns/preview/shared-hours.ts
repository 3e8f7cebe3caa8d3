import type { components } from '../../../foundation/values/generated/contract.ts';
import { type CallingHours, openMinutes } from '../../calls/calling-hours.ts';
import { zonesOfContact } from '../../calls/zones-of-contact.ts';
import type { PreviewScope } from './preview-scope.ts';

export type SharedHours = components['schemas']['CampaignSharedHours'];

/** The most sets of time zones that are told. */
const MOST_SETS = 20;

/**
 * The sets of several time zones in which callees may be, the largest first, and how much of the next seven days is left.
 * @param groups numbers that are to be called, of each group an example
 */
export function sharedHours(
  groups: readonly { example: number; count: number; timezone: string | null }[],
  { campaign, situation, at }: PreviewScope,
): SharedHours[] {
  const sets = new Map<string, { timezones: readonly string[]; contacts: number }>();
  for (const { example, count, timezone } of groups) {
    const { timezones } = zonesOfContact(campaign.callee_time_zone, timezone, example);
    if (timezones.length < 2) continue;
    const key = timezones.join();
    sets.set(key, { timezones, contacts: (sets.get(key)?.contacts ?? 0) + count });
  }
  const largest = [...sets.values()].sort((a, b) => b.contacts - a.contacts).slice(0, MOST_SETS);
  return largest.map((set) => ({
    ...set,
    timezones: [...set.timezones],
    ...minutesOf(situation.hours, set.timezones, at),
  }));
}

const minutesOf = (hours: CallingHours, timezones: readonly string[], from: Date) => ({
  openMinutes: openMinutes(hours, timezones.slice(0, 1), from),
  sharedMinutes: openMinutes(hours, timezones, from),
});

import type { components } from '../../../foundation/values/generated/contract.ts';
import { type ClockDay, clockReader } from '../../calls/calling-hours.ts';
import { zonesOfContact } from '../../calls/zones-of-contact.ts';
import type { NumberGroup, PreviewScope } from './preview-scope.ts';

export type LocalHours = components['schemas']['CampaignLocalHours'];

/** Calls before 8:00 and from 21:00 on are counted apart, in minutes since local midnight. */
const EARLY = 8 * 60;
const LATE = 21 * 60;

/** Callees who are called by the same hours and clocks. */
interface Alike {
  isTrusted: boolean;
  /** Those that decide when they are called. */
  called: readonly string[];
  /** Those that may hang where they are. */
  own: readonly string[];
  contacts: number;
}

/**
 * At which hours of their own clocks callees could ring in the 24 hours from the first call on. Whose call goes by the
 * campaign's clock is told by the clocks of the number all the same: that is where the phone rings.
 * @param groups numbers that are to be called, of each group an example
 */
export function localHours(groups: readonly NumberGroup[], { campaign, situation, at }: PreviewScope): LocalHours {
  const contacts = Array.from({ length: 24 }, () => 0);
  const left = campaign.end_date ? Math.ceil((campaign.end_date.getTime() - at.getTime()) / 60_000) : undefined;
  const clocks = [situation.hours, situation.freeHours].map((hours) => remembered(clockReader(hours, at)));
  const told = { earliest: 1440, latest: 0 };
  let earlyOrLate = 0;
  for (const { isTrusted, called, own, contacts: count } of alike(groups, campaign, situation.trusted)) {
    const clock = clocks[isTrusted ? 1 : 0]!;
    const minutes = ringingMinutes(called.map(clock), own.map(clock), left);
    for (const hour of new Set([...minutes].map((minute) => Math.floor(minute / 60)))) contacts[hour]! += count;
    for (const minute of minutes) {
      told.earliest = Math.min(told.earliest, minute);
      told.latest = Math.max(told.latest, minute + 1);
    }
    if ([...minutes].some((minute) => minute < EARLY || minute >= LATE)) earlyOrLate += count;
  }
  return { contacts, ...(told.latest > 0 && told), earlyOrLate };
}

/** The minutes of some clocks at which calls are open in all of others, within so many minutes from the first on. */
function ringingMinutes(called: readonly ClockDay[], own: readonly ClockDay[], within = Number.POSITIVE_INFINITY) {
  const minutes = new Set<number>();
  for (let at = 0; at < Math.min(called[0]!.open.length, within); at += 1) {
    if (called.every(({ open }) => open[at])) for (const clock of own) minutes.add(clock.minutes[at]!);
  }
  return minutes;
}

function alike(
  groups: readonly NumberGroup[],
  campaign: PreviewScope['campaign'],
  trusted: readonly number[],
): Alike[] {
  const found = new Map<string, Alike>();
  const orCampaigns = (zones: readonly string[]) => (zones.length > 0 ? zones : [campaign.timezone]);
  for (const { example, count, timezone } of groups) {
    const isTrusted = trusted.includes(example);
    const called = orCampaigns(zonesOfContact(campaign.callee_time_zone, timezone, example).timezones);
    const own = orCampaigns(zonesOfContact('strictest', timezone, example).timezones);
    const key = `${isTrusted} ${called.join()} ${own.join()}`;
    const known = found.get(key);
    if (known) known.contacts += count;
    else found.set(key, { isTrusted, called, own, contacts: count });
  }
  return [...found.values()];
}

function remembered<Value>(read: (timezone: string) => Value): (timezone: string) => Value {
  const known = new Map<string, Value>();
  return (timezone) => {
    if (!known.has(timezone)) known.set(timezone, read(timezone));
    return known.get(timezone)!;
  };
}

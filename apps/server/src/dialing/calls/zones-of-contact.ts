import { readTimeZone } from '../../audience/contact-lists/reading/time-zone.ts';
import { timeZoneOfCountry } from '../../lines/phone-numbers/country-time-zone.ts';
import { timeZonesOfNumber } from '../../lines/phone-numbers/number-time-zones.ts';
import { countryOfNumber } from '../../lines/phone-numbers/numbering-plan.ts';

/** Whose clock counts where a number can be in several time zones: all of them, or the campaign's. */
export type CalleeTimeZone = 'strictest' | 'campaign';

/** Where a contact may be. */
export interface ContactZones {
  /** IANA names; none for the campaign's, also when that changes. */
  timezones: readonly string[];
  /** Whether it is said of the person, and not known by the number. */
  isOwn: boolean;
}

/** Stands for whatever an older version took for the time zone of a contact, and this one can't read: one lane for all. */
const UNREADABLE = 'unreadable';

/** Whether somebody can be dialed by some time zones; else they are left out as `invalid_time_zone`. */
export const areReadable = (timezones: readonly string[]): boolean =>
  timezones.every((timezone) => readTimeZone(timezone) !== undefined);

/**
 * The time zones of a contact: its own, else the number's, else none.
 * @param own IANA name, of the list's column or the recipient
 * @param phoneNumber E.164 without the plus
 */
export function zonesOfContact(rule: CalleeTimeZone, own: string | null, phoneNumber: number): ContactZones {
  if (own !== null) return { timezones: [readTimeZone(own) ?? UNREADABLE], isOwn: true };
  if (rule === 'strictest') return { timezones: timeZonesOfNumber(phoneNumber), isOwn: false };
  const country = countryOfNumber(phoneNumber);
  const zone = country && timeZoneOfCountry(country);
  return { timezones: zone ? [zone] : [], isOwn: false };
}

/** What tells one lane of a campaign from another. */
export const zonesKey = ({ timezones, isOwn }: ContactZones): string => `${isOwn} ${timezones.join(' ')}`;

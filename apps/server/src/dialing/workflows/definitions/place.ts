import { readTimeZone, timeZoneFault } from '../../../audience/contact-lists/reading/time-zone.ts';
import { readNumber } from '../../calls/may-dial.ts';
import { zonesOfContact } from '../../calls/zones-of-contact.ts';
import { StepError } from './step-error.ts';

/** Whether somebody means a phone number, and no time zone. */
const looksLikeNumber = (text: string): boolean => /^[+\d]/.test(text);

/** Longer than any name of a time zone: what is longer need not be looked up, and kept. */
const LONGEST = 64;
const NO_PLACE =
  'There is no such time zone. Give an IANA name such as Europe/Berlin, or a phone number in E.164 form.';

/** What is wrong with a text that should be a phone number or a time zone; nothing where it is one. */
export function placeFault(text: string): string | undefined {
  if (text.length > LONGEST) return NO_PLACE;
  if (!looksLikeNumber(text)) return readTimeZone(text) === undefined ? timeZoneFault(text) : undefined;
  if (readNumber(text)) return undefined;
  return 'There is no such phone number. Give one in E.164 form, such as +14155550100, or an IANA time zone.';
}

/**
 * The time zones of a place: of a phone number all in which its holder may be, as calls are placed by them (none where the
 * numbering plan knows none); or the one that is named.
 * @throws StepError `invalid_time_zone` for what is neither
 */
export function zonesOfPlace(text: string): readonly string[] {
  const fault = placeFault(text);
  if (fault !== undefined) throw new StepError('invalid_time_zone', `"${text.slice(0, 64)}": ${fault}`);
  const number = looksLikeNumber(text) ? readNumber(text) : undefined;
  return number ? zonesOfContact('strictest', null, number.toNumber).timezones : [readTimeZone(text)!];
}

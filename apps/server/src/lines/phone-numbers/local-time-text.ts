import { timeZonesOfNumber } from './number-time-zones.ts';

/** More clocks than these say nothing any more. */
const MOST_ZONES = 4;

/**
 * What the clock shows where the holder of a number may be, in words for a model.
 * @param number E.164; a person of whom it isn't known may be anywhere
 */
export function localTimeText(now: Date, number: string | undefined): string {
  const zones = number === undefined ? [] : timeZonesOfNumber(Number(number.slice(1)));
  if (zones.length === 0 || zones.length > MOST_ZONES)
    return `It is ${clockText(now, 'UTC')}; in which time zone the person is, is not known.`;
  return `It is ${zones.map((zone) => clockText(now, zone)).join(', or ')}, where the person is.`;
}

const clockText = (now: Date, timeZone: string): string => {
  const day = now.toLocaleDateString('en-GB', { timeZone, dateStyle: 'full' });
  const time = now.toLocaleTimeString('en-GB', { timeZone, timeStyle: 'short' });
  return `${time} on ${day} (${timeZone})`;
};

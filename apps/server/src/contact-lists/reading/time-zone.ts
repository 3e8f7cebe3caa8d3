import { getAllTimezones } from 'countries-and-timezones';

const MAX_REMEMBERED = 10_000;

const properNames = new Map(
  Object.keys(getAllTimezones({ deprecated: true })).map((name) => [name.toLowerCase(), name]),
);
const remembered = new Map<string, string | undefined>();

function check(name: string): string | undefined {
  if (!/^[a-z][a-z0-9_+\-/]{1,63}$/i.test(name)) return undefined;
  const proper = properNames.get(name.toLowerCase()) ?? name;
  try {
    new Intl.DateTimeFormat('en', { timeZone: proper });
    return proper;
  } catch {
    return undefined;
  }
}

/**
 * Checks an IANA time zone name, whatever its case; offsets such as `+02:00` are no names.
 * @returns the name in its proper case, or nothing when there is no such zone
 */
export function readTimeZone(text: string): string | undefined {
  if (remembered.has(text)) return remembered.get(text);
  const zone = check(text);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(text, zone);
  return zone;
}

import { getAllTimezones } from 'countries-and-timezones';
import { Temporal } from 'temporal-polyfill';

const MAX_REMEMBERED = 10_000;

const known = getAllTimezones({ deprecated: true }) as Readonly<Record<string, { aliasOf: string | null }>>;
/** Every name that is read, by its small letters. Those without an area are old: `EST` is Panama, without summer time. */
const properNames = new Map(
  Object.keys(known)
    .filter((name) => name === 'UTC' || name.includes('/'))
    .map((name) => [name.toLowerCase(), name]),
);
const remembered = new Map<string, string | undefined>();

function check(text: string): string | undefined {
  const name = properNames.get(text.toLowerCase());
  if (name === undefined) return undefined;
  try {
    // What calls are dialed by: an older Node.js lacks the newest names.
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return name;
  } catch {
    return undefined;
  }
}

/**
 * The one judge of time zones, of those that are read and those that are dialed by: IANA names with an area, whatever their
 * case, and `UTC`. Words such as `CST` and offsets are none. `Etc/GMT+5` is one: five hours behind UTC, as IANA counts.
 * @returns the name in its proper case, or nothing when there is no such zone
 */
export function readTimeZone(text: string): string | undefined {
  if (remembered.has(text)) return remembered.get(text);
  const zone = check(text);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(text, zone);
  return zone;
}

/** What people write for a time zone, and could mean by it. */
const meanings: Readonly<Record<string, readonly string[]>> = {
  ACST: ['Australia/Adelaide', 'Australia/Darwin'],
  AEST: ['Australia/Sydney', 'Australia/Brisbane'],
  AST: ['America/Halifax', 'America/Puerto_Rico', 'Asia/Riyadh'],
  AWST: ['Australia/Perth'],
  BRT: ['America/Sao_Paulo'],
  BST: ['Europe/London', 'Asia/Dhaka'],
  CDT: ['America/Chicago', 'America/Havana'],
  CEST: ['Europe/Berlin', 'Europe/Paris'],
  CET: ['Europe/Berlin', 'Europe/Paris', 'Africa/Algiers'],
  CST6CDT: ['America/Chicago'],
  CST: ['America/Chicago', 'Asia/Shanghai', 'America/Havana'],
  EDT: ['America/New_York'],
  EET: ['Europe/Athens', 'Europe/Helsinki', 'Africa/Tripoli'],
  EST5EDT: ['America/New_York'],
  EST: ['America/New_York', 'America/Panama', 'Australia/Sydney'],
  GMT: ['UTC', 'Europe/London', 'Africa/Accra'],
  GST: ['Asia/Dubai', 'Pacific/Guam'],
  HST: ['Pacific/Honolulu'],
  IST: ['Asia/Kolkata', 'Europe/Dublin', 'Asia/Jerusalem'],
  JST: ['Asia/Tokyo'],
  KST: ['Asia/Seoul'],
  MDT: ['America/Denver'],
  MET: ['Europe/Berlin', 'Europe/Paris'],
  MSK: ['Europe/Moscow'],
  MST7MDT: ['America/Denver'],
  MST: ['America/Denver', 'America/Phoenix', 'Asia/Kuala_Lumpur'],
  NST: ['America/St_Johns'],
  NZST: ['Pacific/Auckland'],
  PDT: ['America/Los_Angeles'],
  PKT: ['Asia/Karachi'],
  PST8PDT: ['America/Los_Angeles'],
  PST: ['America/Los_Angeles', 'Asia/Manila'],
  SGT: ['Asia/Singapore'],
  SST: ['Asia/Singapore', 'Pacific/Pago_Pago'],
  WET: ['Europe/Lisbon', 'Atlantic/Canary'],
  Z: ['UTC'],
};

/** The names that may be meant by what is none: by an abbreviation, an old name such as `Japan`, or one with blanks. */
function meant(text: string): readonly string[] {
  const word = text.trim().replaceAll(' ', '_').toLowerCase();
  const proper = properNames.get(word);
  if (proper !== undefined) return [proper];
  const old = Object.entries(known).find(([name]) => name.toLowerCase() === word);
  const alias = old && !old[0].includes('/') ? old[1].aliasOf : null;
  return meanings[word.toUpperCase()] ?? (alias === null ? [] : [alias.startsWith('Etc/') ? 'UTC' : alias]);
}

const someOf = new Intl.ListFormat('en', { type: 'disjunction' });

/** A name that is kept in its proper case; what is no name as it is, to be refused. */
export const properTimeZone = (text: string): string => readTimeZone(text) ?? text;

/** What to write for a text that `readTimeZone` doesn't read, where somebody may mean something by it. */
export function timeZoneHint(text: string): string | undefined {
  const names = readTimeZone(text.trim()) === undefined ? meant(text) : [];
  if (names.length === 0) return undefined;
  const why = names.length > 1 ? 'has more than one meaning' : 'is no IANA name with an area';
  return `${text.trim()} ${why}. Write ${someOf.format(names)}.`;
}

/** What is wrong with such a text, for a person. */
export const timeZoneFault = (text: string): string =>
  timeZoneHint(text) ?? 'There is no such time zone. Give an IANA name such as Europe/Berlin.';

import type { components } from '@trunkline/client';
import { clock, minutesOf } from './hours.ts';
import type { Workspace } from './words.ts';

type Change = components['schemas']['UpdateWorkspace'];

/** What a field of the form holds, as text. */
export type Written = Readonly<Record<string, string>>;

const FIGURES = ['maxConcurrentCalls', 'maxCallsPerDay', 'maxAttemptsPerPersonPerDay', 'maxNumbersPerDay'] as const;
const parts = (text: string) => text.split(/[\s,;]+/).filter(Boolean);

/** The limits and hours as the form shows them. */
export function writtenOf({
  limits,
  quietHours,
  holidays = [],
  trustedNumbers = [],
}: Workspace): Record<string, string> {
  return {
    ...Object.fromEntries(FIGURES.map((name) => [name, String(limits[name] ?? '')])),
    allowedCountries: (limits.allowedCountries ?? []).join(' '),
    premiumRate: limits.premiumRateAllowed ? 'yes' : '',
    quietStart: quietHours ? clock(quietHours.start) : '',
    quietEnd: quietHours ? clock(quietHours.end) : '',
    holidays: holidays.join(' '),
    trustedNumbers: trustedNumbers.join(' '),
  };
}

/** What was changed, and nothing else: what nobody has touched keeps what others set meanwhile. Throws what is wrong, in words. */
export function changeOf(before: Written, after: Written): Change {
  const isNew = (...names: string[]) => names.some((name) => (before[name] ?? '') !== (after[name] ?? ''));
  const limits: Record<string, unknown> = {};
  for (const name of FIGURES) if (isNew(name)) limits[name] = after[name] ? Number(after[name]) : null;
  if (isNew('allowedCountries'))
    limits['allowedCountries'] = parts(after['allowedCountries'] ?? '').map((code) => code.toUpperCase());
  if (isNew('premiumRate')) limits['premiumRateAllowed'] = Boolean(after['premiumRate']);
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(isNew('quietStart', 'quietEnd') && { quietHours: quietOf(after['quietStart'], after['quietEnd']) }),
    ...(isNew('holidays') && { holidays: parts(after['holidays'] ?? '') }),
    ...(isNew('trustedNumbers') && { trustedNumbers: parts(after['trustedNumbers'] ?? '') }),
  };
}

function quietOf(from = '', to = '') {
  if (!from && !to) return null;
  const [start, end] = [minutesOf(from), minutesOf(to)];
  if (start === undefined || end === undefined || start === 1440)
    throw new Error('Quiet hours begin and end at a time, such as 21:00 and 08:00. Leave both empty for none.');
  return { start, end };
}

import type { ErrorDetail } from '../../foundation/values/service-error.ts';
import { dialingPlan } from '../../lines/phone-numbers/dialing-plan.ts';

/** What people write for countries that ISO 3166-1 calls otherwise. */
const MEANT: Partial<Record<string, string>> = { UK: 'GB', EN: 'GB', EL: 'GR', SF: 'FI', KO: 'KR', JA: 'JP', CS: 'CZ' };

/** The fault of a default country that numbers can't be read in; none for one that is absent. */
export function countryFaults(country: string | undefined, path: string): ErrorDetail[] {
  if (country === undefined || dialingPlan(country)) return [];
  const meant = MEANT[country];
  const advice = meant ? `write ${meant}` : 'write two letters such as US, GB or DE';
  return [{ path, message: `is no country of ISO 3166-1 with phone numbers of its own: ${advice}` }];
}

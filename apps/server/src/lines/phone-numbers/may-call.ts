import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import { findPlan, type PlannedNumber } from './numbering-plan.ts';

/** Where calls may go. */
export interface CallingArea {
  /** The lists of ISO 3166-1 countries that must all hold the callee's; an empty or absent one means all. */
  countries: readonly (readonly string[] | null | undefined)[];
  /** Whether premium-rate numbers, and those that cost as much, may be called too. */
  premiumRate: boolean;
  /** What whoever runs the server allows at most; absent where nothing is limited. */
  operator?: Pick<OperatorLimits, 'allowedCountries' | 'premiumRate'>;
  /** The one number that calls, E.164 without the plus, where it is known: it can't call itself. */
  caller?: number | undefined;
}

/**
 * Why a number is not called, whoever wants to: a list, a batch or a workflow. `invalid_number`: no numbering plan has it,
 * emergency and short numbers among them, or it is the one that calls. `operator_limit`: whoever runs the server lets nobody
 * call it. `country_not_allowed`: it lies outside the area; a number of no country (+883 …) lies in no list of countries.
 * Nothing for a number that may be called.
 * @param digits E.164 without the plus
 */
export function refusalOf(
  area: CallingArea,
  digits: number,
): 'invalid_number' | 'operator_limit' | 'country_not_allowed' | undefined {
  const plan = findPlan(String(digits));
  if (!plan || digits === area.caller) return 'invalid_number';
  const { operator } = area;
  if (operator && !isInside(plan, [operator.allowedCountries], operator.premiumRate)) return 'operator_limit';
  return isInside(plan, area.countries, area.premiumRate) ? undefined : 'country_not_allowed';
}

const isInside = ({ country, isCostly }: PlannedNumber, countries: CallingArea['countries'], premiumRate: boolean) =>
  (premiumRate || !isCostly) &&
  countries.every((list) => !list?.length || (country !== undefined && list.includes(country)));

/** Whether a number may be called. @param digits E.164 without the plus */
export const mayCall = (area: CallingArea, digits: number): boolean => refusalOf(area, digits) === undefined;

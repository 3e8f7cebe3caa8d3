import { findPlan } from './numbering-plan.ts';

/** Where calls may go. */
export interface CallingArea {
  /** The lists of ISO 3166-1 countries that must all hold the callee's; an empty or absent one means all. */
  countries: readonly (readonly string[] | null | undefined)[];
  /** Whether premium-rate numbers, and those that cost as much, may be called too. */
  premiumRate: boolean;
  /** The one number that calls, E.164 without the plus, where it is known: it can't call itself. */
  caller?: number | undefined;
}

/**
 * Why a number is not called, whoever wants to: a list, a batch or a workflow. `invalid_number`: no numbering plan has it,
 * emergency and short numbers among them, or it is the one that calls. `country_not_allowed`: it lies outside the area; a number of no country (+883 …)
 * lies in no list of countries. Nothing for a number that may be called.
 * @param digits E.164 without the plus
 */
export function refusalOf(area: CallingArea, digits: number): 'invalid_number' | 'country_not_allowed' | undefined {
  const plan = findPlan(String(digits));
  if (!plan || digits === area.caller) return 'invalid_number';
  if (plan.isCostly && !area.premiumRate) return 'country_not_allowed';
  const { country } = plan;
  const isInside = area.countries.every((list) => !list?.length || (country !== undefined && list.includes(country)));
  return isInside ? undefined : 'country_not_allowed';
}

/** Whether a number may be called. @param digits E.164 without the plus */
export const mayCall = (area: CallingArea, digits: number): boolean => refusalOf(area, digits) === undefined;

import { findPlan } from './numbering-plan.ts';

/** Where calls may go. */
export interface CallingArea {
  /** The lists of ISO 3166-1 countries that must all hold the callee's; an empty or absent one means all. */
  countries: readonly (readonly string[] | null | undefined)[];
  /** Whether the premium-rate numbers of these countries may be called too. */
  premiumRate: boolean;
}

/**
 * Whether a number lies in the area that may be called. A number of no country (+883 …) lies in no list of countries.
 * @param digits E.164 without the plus
 */
export function mayCall({ countries, premiumRate }: CallingArea, digits: number): boolean {
  const lists = countries.filter((list) => list?.length);
  if (lists.length === 0 && premiumRate) return true;
  const plan = findPlan(String(digits));
  if (plan?.premiumRate && !premiumRate) return false;
  return lists.every((list) => plan?.country !== undefined && list!.includes(plan.country));
}

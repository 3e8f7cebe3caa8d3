import { findPlan } from './numbering-plan.ts';

/** The ISO 3166-1 country of an E.164 number given without its plus; undefined where it belongs to none (+883 …). */
export const countryOfNumber = (digits: number): string | undefined => findPlan(String(digits))?.country;

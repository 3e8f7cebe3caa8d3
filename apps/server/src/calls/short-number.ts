import { findPlan } from '../phone-numbers/numbering-plan.ts';

/** A calling code has at most three digits, an emergency or other short number at most six. */
const LONGEST_SHORT = 999_999_999;

/**
 * Whether a number, E.164 without its plus, is an emergency or short number behind a calling code (+1 911, +49 116117).
 * No call is ever placed to one. Some subscribers' numbers are as short, but those stand in a numbering plan.
 */
export const isShortNumber = (digits: number): boolean => digits <= LONGEST_SHORT && !findPlan(String(digits));

import { digitsMs } from '@trunkline/media';

/** What may be pressed in a call, as the contract has it (`CallDigits`). */
export const DIGITS = '^[wW]*[0-9A-D*#][0-9A-D*#wW]*$';
const MOST = 64;

/** Digits that are not sent by so much later than they last are given up, in ms. */
export const MOST_LATE_MS = 10_000;
/** The longest that those of one request are sent, in ms. */
export const LONGEST_MS = digitsMs(`${'W'.repeat(MOST - 1)}1`) + MOST_LATE_MS;

/** Whether a text can be sent as digits. */
export const areDigits = (text: string): boolean => text.length <= MOST && new RegExp(DIGITS).test(text);

/**
 * What came of digits that a call was to be sent. `call_ended`: it isn't up. `no_sound`: nothing goes to the other side now, as
 * in a hold. `refused`: it takes no INFO, or is too slow to answer. `too_many` wait already. `error`: a fault that nobody has
 * thought of.
 */
export type DigitsSent =
  | { isSent: true }
  | { isSent: false; reason: 'call_ended' | 'no_sound' | 'refused' | 'too_many' | 'error' };

/** What may be pressed in a call, as the contract has it (`CallDigits`). */
export const DIGITS = '^[wW]*[0-9A-D*#][0-9A-D*#wW]*$';
const MOST = 64;

/** Whether a text can be sent as digits. */
export const areDigits = (text: string): boolean => text.length <= MOST && new RegExp(DIGITS).test(text);

/**
 * What came of digits that a call was to be sent. `call_ended`: it isn't up. `no_sound`: nothing goes to the other side now, as
 * in a hold. `refused`: it takes no INFO. `too_many` wait already. `error`: a fault that nobody has thought of.
 */
export type DigitsSent =
  | { isSent: true }
  | { isSent: false; reason: 'call_ended' | 'no_sound' | 'refused' | 'too_many' | 'error' };

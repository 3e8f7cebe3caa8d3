/** Why a cell holds no number that can be called. */
export interface PhoneNumberFault {
  /** As the contract's list of row errors has them. */
  code: 'missing_phone' | 'invalid_phone' | 'ambiguous_phone' | 'several_phones' | 'default_country_needed';
  /** What is wrong and what would be right, for a person. */
  reason: string;
}

/** A fault of a cell that should hold a number. */
export const phoneFault = (code: PhoneNumberFault['code'], reason: string): PhoneNumberFault => ({ code, reason });

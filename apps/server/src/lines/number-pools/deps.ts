import type { PhoneNumberDeps } from '../phone-numbers/deps.ts';

/** What number pools need: that of phone numbers, whose trunks are checked here too. */
export type NumberPoolDeps = PhoneNumberDeps;

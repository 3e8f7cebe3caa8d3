import type { WeeklyWindow } from './calling-hours.ts';
import type { CalleeTimeZone } from './zones-of-contact.ts';

/** When one person is called; without windows, at any hour that the workspace allows. */
export interface CalleeHours {
  callingWindows?: readonly WeeklyWindow[] | undefined;
  /** IANA name; `UTC` without it. */
  timezone?: string | undefined;
  /** `strictest` without it. */
  calleeTimeZone?: CalleeTimeZone | undefined;
  /** Where the person is, if somebody has said so: IANA name. */
  ownTimezone?: string | undefined;
  /** Dates, beside those of the workspace. */
  holidays?: readonly string[] | undefined;
}

/** What the next call keeps to that an agent asks for: the hours of this one, and how many such calls came before it. */
export interface CallBackTerms extends CalleeHours {
  times: number;
}

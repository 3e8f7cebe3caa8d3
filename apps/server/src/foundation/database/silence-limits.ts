/** After so long without a byte, in milliseconds, a connection that waits is asked about: no statement of a request runs longer. */
export const SILENCE_MS = 30_000;
/** The same if there are several hosts: another of them may be the primary long before. */
export const SILENCE_OF_SEVERAL_MS = 10_000;
/** How often it is looked who waits, in milliseconds. */
export const LOOK_MS = 5000;
/** Another connection must be there after so long, in milliseconds, and answer in the same time. */
export const ASK_MS = 10_000;

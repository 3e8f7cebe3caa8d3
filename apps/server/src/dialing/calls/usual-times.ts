/** How long a call rings at most if nobody has said otherwise, in seconds. The contract shows the same. */
export const USUAL_RING_SECONDS = 30;
/** How long it lasts at most then, in seconds. */
export const USUAL_CALL_SECONDS = 3600;

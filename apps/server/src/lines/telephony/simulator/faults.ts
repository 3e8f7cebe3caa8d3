import type { CallEvent, CallRequest } from '../call-gateway.ts';

/** Faults that a test can switch on and off while calls are up. Each asks for its own calls or events. */
export interface Faults {
  /** Calls that are placed while their answer is lost: `placeCall` says `unknown`. */
  loseAnswer?: (call: CallRequest) => boolean;
  /** Calls that never reach the provider: `placeCall` says `unknown`, and `lookup` finds nothing. */
  loseRequest?: (call: CallRequest) => boolean;
  loseEvent?: (event: CallEvent) => boolean;
  /** Events that come a second time, in a set of their own. */
  duplicateEvent?: (event: CallEvent) => boolean;
  /** Milliseconds that an event is late. Unequal delays bring events out of order. */
  delayEvent?: (event: CallEvent) => number;
}

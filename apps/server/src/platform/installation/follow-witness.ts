import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import { markWitnessed } from './installation.ts';
import type { Testimony, Witness } from './witness.ts';

/** A witness that may be out of reach for a while. */
export interface FollowedWitness {
  /**
   * What it says; null where there is none, and where one that was read before can't be: that stops nobody. Throws where it
   * was never read.
   */
  ask(): Promise<Testimony | undefined | null>;
  /** Tells it, and that it was told; one that can't be is told the next time. */
  tell(testimony: Testimony): Promise<void>;
  /** What is wrong with it now. */
  faults(): string[];
}

export function followWitness(witness: Witness | undefined, database: Database, log: Logger): FollowedWitness {
  let fault: string | undefined;
  let wasRead = false;
  const note = (found: string, error: unknown) => {
    if (fault !== found) log.warn({ err: error }, found);
    fault = found;
  };
  return {
    ask: async () => {
      if (!witness) return null;
      try {
        const testimony = await witness.read();
        wasRead = true;
        return testimony;
      } catch (error) {
        note('the witness can not be read', error);
        if (wasRead) return null;
        throw error;
      }
    },
    tell: async (testimony) => {
      try {
        await witness?.write(testimony);
        if (witness) await database.inEngine(markWitnessed);
        fault = undefined;
      } catch (error) {
        note('the witness can not be written', error);
      }
    },
    faults: () => (fault === undefined ? [] : [fault]),
  };
}

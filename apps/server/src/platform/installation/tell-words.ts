import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { coalesce } from '../../foundation/values/coalesce.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { Comparison } from './comparison.ts';
import { markWitnessed } from './installation.ts';
import { NotWitnessed, type Raiser } from './raise-number.ts';
import type { WitnessEntry, WitnessedWord } from './witness.ts';
import type { WitnessWriter } from './witness-writer.ts';

/** The most that is told of at once. */
const MOST_WORDS = 1000;
const MAY_BE_LOST = 'It is done, but might be lost with the database, and nobody would know. Send it again.';

/** Tells the witness of what forbids calls. */
export interface WordTeller {
  /**
   * Has the witness know what was committed before this and forbids calls. Resolves once it is written. Throws `unavailable`
   * if it isn't within a second (it is written as soon as it can be, and nothing is placed before), or if the database may
   * have become another one since: what was committed may be lost, and whoever asked for it has to ask again.
   * @param since what `doubts` has answered before the transaction that committed it
   */
  tell(words: readonly WitnessedWord[], since: number): Promise<void>;
  /** How often the database may have become another one. */
  doubts(): number;
  /** The database may have become another one. */
  doubt(): void;
  idle(): Promise<void>;
}

export function createWordTeller(options: {
  database: Database;
  comparison: Pick<Comparison, 'heldBecause'>;
  raise: Raiser['raise'];
  writer: WitnessWriter;
  isJournal: boolean;
  clock: Clock;
  log: Logger;
}): WordTeller {
  const { database, comparison, raise, writer, clock, log } = options;
  let doubts = 0;

  async function tellSet(words: readonly WitnessedWord[]): Promise<boolean> {
    const nothing = async () => undefined;
    // Once more: the slot may have been another server's by now.
    const { slot, number } = await raise(nothing).catch((error) => {
      if (error instanceof NotWitnessed) return raise(nothing);
      throw error;
    });
    const entry: WitnessEntry = { number, at: clock.now().toISOString() };
    const isWritten = await writer.write(slot, words.length > 0 ? { ...entry, words: [...words] } : entry);
    if (isWritten && !options.isJournal) await database.inEngine(markWitnessed);
    return isWritten;
  }

  const tellAll = coalesce<readonly WitnessedWord[], boolean>(
    async (all) => {
      const isTold = await tellSet(all.flat());
      return all.map(() => isTold);
    },
    { atMost: MOST_WORDS },
  );

  return {
    tell: async (words, since) => {
      const isTold = await tellAll(words).catch((error) => {
        log.warn({ err: error }, 'the witness could not be told of a word');
        // While dialing is held nobody is called, and none is told.
        return comparison.heldBecause() !== undefined;
      });
      if (!isTold || since !== doubts) throw new ServiceError('unavailable', MAY_BE_LOST);
    },
    doubts: () => doubts,
    doubt: () => {
      doubts += 1;
    },
    idle: tellAll.idle,
  };
}

import type { Database } from '../../foundation/database/database.ts';
import type { Witness } from '../../platform/installation/witness.ts';
import type { CalledFile } from './called-file.ts';
import { type CalledPeople, findCalled } from './called-people.ts';
import { type JudgedCall, judgeCalls, lostCall, readUnheard } from './lost-calls.ts';
import { type LostWords, lostWords } from './put-back.ts';
import { readGap } from './read-gap.ts';

/** What a confirmation would mark and put back. */
export interface Plan {
  calls: JudgedCall[];
  words: LostWords;
  /** The newest numbers of slots, by the witness. */
  newest: ReadonlyMap<number, number>;
  /** Whether the witness knows of all calls that were placed. */
  isWhole: boolean;
  called: (CalledPeople & { file: CalledFile }) | undefined;
}

/**
 * Looks for what a restored database has lost, by the witness and a carrier's list. If the witness may lack calls, those that
 * were on their way when the backup was made are taken for placed too. Changes nothing.
 */
export async function makePlan(
  database: Database,
  witness: Witness,
  file: CalledFile | undefined,
  now: Date,
): Promise<Plan> {
  const { calls, words, newest, isWhole } = await readGap(database, witness);
  const lost = calls.map(lostCall);
  if (!isWhole) lost.push(...(await readUnheard(database, now)));
  const people = file && (await findCalled(database, file.rows, now));
  return {
    calls: await judgeCalls(database, lost),
    words: lostWords(words),
    newest,
    isWhole,
    called: people && file && { ...people, file },
  };
}

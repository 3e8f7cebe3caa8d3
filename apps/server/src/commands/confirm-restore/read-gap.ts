import type { Database } from '../../foundation/database/database.ts';
import { readNumbers } from '../../platform/installation/slots.ts';
import type { Witness, WitnessedCall, WitnessedWord } from '../../platform/installation/witness.ts';

/** What the witness knows, and the database does not. */
export interface Gap {
  calls: WitnessedCall[];
  words: WitnessedWord[];
  /** The newest numbers of slots, by the witness. */
  newest: ReadonlyMap<number, number>;
  /** Whether the witness knows of every slot of the database, so that no call is missing here. */
  isWhole: boolean;
}

/** Reads what stands in the witness above the numbers of the database's slots. */
export async function readGap(database: Database, witness: Witness): Promise<Gap> {
  const newest = await witness.newest(new Map());
  // Read after the witness: what a server has told since is not lost.
  const rows = await database.inEngine(readNumbers);
  const gap: Gap = {
    calls: [],
    words: [],
    newest,
    isWhole: newest.size > 0 && [...rows].every(([slot, number]) => number <= (newest.get(slot) ?? 0)),
  };
  for (const [slot, last] of newest) {
    const row = rows.get(slot) ?? 0;
    if (last <= row) continue;
    for await (const { number, calls = [], words = [] } of witness.above(slot, row)) {
      if (number > last) continue;
      gap.calls.push(...calls);
      gap.words.push(...words);
    }
  }
  return gap;
}

import { openWitnesses } from '../../compose-adapters.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../foundation/database/database.ts';
import { gatherEvidence } from '../../platform/installation/comparison.ts';
import { readInstallation } from '../../platform/installation/installation.ts';
import { restoredBecause } from '../../platform/installation/judge-restore.ts';
import { standbyFault } from '../../platform/installation/standbys.ts';
import { type Finding, mend, note, ok, whyOf } from './finding.ts';

const CONFIRM = 'Read "After a restore" in docs/operations.md, and then run confirm-restore.';

const ADVICE = 'set WITNESS_PATH to a folder that all servers see, and that is not restored with the database.';
const JOURNAL = `It is a journal in DATA_DIR, which knows only what this server has told: ${ADVICE}`;
const JOURNAL_BESIDE_DATABASE = `It is a journal in DATA_DIR, with the database, so that whoever restores that folder restores both: ${ADVICE}`;

/** Asks the witness, and judges by it whether the database looks restored. */
export async function checkWitness(config: Config, database: Database): Promise<Finding[]> {
  const found = await database.inEngine(readInstallation);
  if (found.held_reason !== null) return [mend('dialing', `It is held: ${found.held_reason}. ${CONFIRM}`)];
  try {
    const witnesses = await openWitnesses(config, found.id);
    const { evidence } = await gatherEvidence(database, witnesses);
    const reason = restoredBecause(await database.inEngine(readInstallation), evidence);
    if (reason !== undefined) return [mend('witness', `Dialing will be held: ${reason}. ${CONFIRM}`)];
    if (!witnesses.isJournal) return [ok('witness', 'It knows no more than the database.')];
    return [note('witness', config.databaseUrl ? JOURNAL : JOURNAL_BESIDE_DATABASE)];
  } catch (error) {
    const advice = 'Nothing is called before a server that starts has read it: look at WITNESS_PATH, or at the bucket.';
    return [mend('witness', `It can not be read (${whyOf(error)}). ${advice}`)];
  }
}

/** Says where a standby may lack what was committed. */
export async function checkStandbys(database: Database): Promise<Finding[]> {
  const fault = await standbyFault(database);
  return fault === undefined ? [] : [note('standby', fault)];
}

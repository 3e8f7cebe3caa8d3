import { openWitness } from '../../compose-adapters.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../foundation/database/database.ts';
import { readCluster, readInstallation } from '../../platform/installation/installation.ts';
import { restoredBecause } from '../../platform/installation/judge-restore.ts';
import { type Finding, mend, note, ok, whyOf } from './finding.ts';

const CONFIRM = 'Read "After a restore" in docs/operations.md, and then run confirm-restore.';

/** Asks the witness, and judges by it whether the database looks restored. */
export async function checkWitness(config: Config, database: Database): Promise<Finding[]> {
  const found = await database.inEngine(readInstallation);
  if (found.held_reason !== null) return [mend('dialing', `It is held: ${found.held_reason}. ${CONFIRM}`)];
  try {
    const witness = await openWitness(config);
    const testimony = witness ? await witness.read() : null;
    const { system_identifier } = await readCluster(database);
    const reason = restoredBecause(found, { witness: testimony, system_identifier, seen: 0 });
    if (reason !== undefined) return [mend('witness', `Dialing will be held: ${reason}. ${CONFIRM}`)];
    if (testimony !== null) return [ok('witness', 'It knows no more than the database.')];
    return [
      note(
        'witness',
        'There is none, so that few restored databases are noticed: set WITNESS_PATH to a file that is not restored with the database.',
      ),
    ];
  } catch (error) {
    const advice = 'Nothing is called before a server that starts has read it: look at WITNESS_PATH, or at the bucket.';
    return [mend('witness', `It can not be read (${whyOf(error)}). ${advice}`)];
  }
}

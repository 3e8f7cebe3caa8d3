import { openWitnesses, simulatedProviders } from '../../compose-adapters.ts';
import type { Config } from '../../config.ts';
import type { Database } from '../../foundation/database/database.ts';
import { systemClock } from '../../foundation/values/clock.ts';
import { readInstallation } from '../../platform/installation/installation.ts';
import { confirmRestore } from '../confirm-restore.ts';
import { readCalledFile } from './called-file.ts';

/** What the command line takes, as `parseArgs` wants it. */
export const confirmOptions = {
  'dry-run': { type: 'boolean', default: false },
  called: { type: 'string' },
  column: { type: 'string' },
} as const;

interface ConfirmValues {
  'dry-run': boolean;
  called?: string | undefined;
  column?: string | undefined;
}

/** Confirms a restore, and says what that marks, what it has stopped and what comes next. */
export async function confirmByWord(
  config: Config,
  database: Database,
  values: ConfirmValues,
  print: (text: string) => void,
): Promise<void> {
  const called = values.called === undefined ? undefined : await readCalledFile(values.called, values.column);
  const { id } = await database.inEngine(readInstallation);
  const witnesses = await openWitnesses(config, id);
  let isTold = false;
  const tell = (text: string) => {
    isTold = true;
    print(text);
  };
  const isDryRun = values['dry-run'];
  const simulated = simulatedProviders(config);
  const options = { called, isDryRun, simulated, tell };
  const done = await confirmRestore(database, witnesses, systemClock.now(), options).finally(witnesses.witness.close);
  if (!isTold) return print('The database does not look restored: there is nothing to confirm.\n');
  if (!done) return print('\nThis was a dry run: nothing was marked, and nothing is confirmed.\n');
  print(`
Confirmed: ${done.reason}.

Campaigns and batches that were paused: ${done.paused}; that were cancelled: ${done.cancelled}.
Calls by themselves that were withdrawn: ${done.withdrawn}.
Dialing stays paused in every workspace. Its owner resumes it (POST /v1/workspace/resume-dialing), and then each campaign.
`);
}

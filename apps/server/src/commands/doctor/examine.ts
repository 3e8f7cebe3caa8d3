import type { Config } from '../../config.ts';
import { checkAgents } from './check-agents.ts';
import { checkBucket } from './check-bucket.ts';
import { checkClock, checkLeases, checkPostgres, checkTables } from './check-database.ts';
import { checkFolders } from './check-folders.ts';
import { checkNames } from './check-names.ts';
import { checkSecrets } from './check-secrets.ts';
import { checkServer } from './check-server.ts';
import { checkTraces } from './check-traces.ts';
import { checkTrunks } from './check-trunks.ts';
import { checkStandbys, checkWitness } from './check-witness.ts';
import { type Finding, mend, ok, whyOf } from './finding.ts';
import { open } from './opened.ts';

/**
 * Looks at everything that a server needs, with or without one beside it, and changes nothing.
 * @param tell is given each finding as it is made
 * @param machineTime stands in for the machine's clock in tests, in milliseconds since the epoch
 */
export async function examine(
  config: Config,
  tell: (finding: Finding) => void,
  machineTime?: () => number,
): Promise<void> {
  const perform = async (subject: string, check: () => Promise<Finding | Finding[]>) => {
    const found = await check().catch((error) => mend(subject, `It could not be checked: ${whyOf(error)}. Try again.`));
    for (const finding of [found].flat()) tell(finding);
    return [found].flat();
  };
  tell(ok('settings', 'Each has a value that can be.'));
  const { opened, findings, folders } = await open(config);
  await perform('folder', () => checkFolders(config, folders));
  await perform('files', () => checkBucket(config));
  await perform('dns', () => checkNames(config));
  await perform('traces', () => checkTraces(config));
  await perform('server', () => checkServer(config));
  for (const finding of findings) tell(finding);
  if (!opened) return;
  const { database } = opened;
  try {
    await perform('database', () => checkPostgres(database, config));
    await perform('clock', () => checkClock(database, machineTime));
    const [tables] = await perform('tables', () => checkTables(database));
    if (tables?.state !== 'ok') return;
    await perform('secrets', () => checkSecrets(opened));
    await perform('lease', () => checkLeases(database));
    await perform('witness', () => checkWitness(config, database));
    await perform('standby', () => checkStandbys(database));
    await perform('trunk', () => checkTrunks(config, opened));
    await perform('agent', () => checkAgents(config, opened));
  } finally {
    await database.close();
  }
}

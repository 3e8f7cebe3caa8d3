import { withDeadline } from '../../foundation/values/deadline.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import { whileQuiet } from '../../platform/jobs/quiet.ts';
import { checkTrunks } from './check-trunk.ts';
import type { TrunkDeps } from './deps.ts';
import { firstDueTrunk, takeDueTrunks } from './store.ts';

const REST_MS = 2_000;
const AT_ONCE = 50;
/** When a trunk is due again if nothing comes of this look: its server died, or it can't be asked. */
const AGAIN_MS = 60_000;
/** How long a look may take before the round goes on without it. */
const LOOK_MS = 30_000;

/**
 * Checks every trunk each hour, and those that nobody waits for. Any server takes up what is due, each trunk once.
 * @returns what ends it, after the round that is under way
 */
export function startTrunkTasks(deps: TrunkDeps, restMs = REST_MS): Repeating {
  const act = async () => (await takeUpDueTrunks(deps)) === AT_ONCE;
  return every(restMs, act, { name: 'trunks', log: deps.log, asleep: whileQuiet(deps.database, firstDueTrunk) });
}

/** One round: checks the trunks that are due, at most 50. Returns how many they were. */
export async function takeUpDueTrunks(deps: TrunkDeps): Promise<number> {
  const now = deps.clock.now();
  const next = new Date(now.getTime() + AGAIN_MS);
  const due = await deps.database.inEngine((tx) => takeDueTrunks(tx, now, next, AT_ONCE));
  await withDeadline(LOOK_MS, () => checkTrunks(deps, due)).catch((error) => {
    deps.log.warn({ err: error, trunks: due.length }, 'trunks could not be checked; it is tried again');
  });
  return due.length;
}

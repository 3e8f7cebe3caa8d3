import type { components } from '../../foundation/values/generated/contract.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { checkWithin } from './check-trunk.ts';
import type { TrunkDeps } from './deps.ts';
import { reasonTexts, shapeTrunk } from './shape-trunk.ts';
import { findTrunk } from './store.ts';

type Check = components['schemas']['TrunkCheck'];

/** Checks a trunk now, and keeps what that found. One that does not answer in time is unreachable. Throws `not_found`. */
export async function validateTrunk(deps: TrunkDeps, workspaceId: string, id: string): Promise<Check> {
  const read = () => deps.database.inWorkspace(workspaceId, (tx) => findTrunk(tx, id));
  const before = await existing(read());
  const verdict = (await checkWithin(deps, [before]))?.get(id);
  const after = await existing(read());
  const { valid, reachable, credentials, reason, rttMs } = verdict ?? {
    valid: false,
    reachable: false,
    credentials: before.username === null ? ('not_given' as const) : ('unverified' as const),
    reason: 'unreachable' as const,
  };
  return {
    valid,
    reachable,
    credentials,
    ...(reason && { reason, message: reasonTexts[reason] }),
    ...(rttMs !== undefined && { rttMs: Math.round(rttMs) }),
    trunk: shapeTrunk(after, deps.clock.now()),
  };
}

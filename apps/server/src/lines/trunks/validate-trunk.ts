import type { components } from '../../foundation/values/generated/contract.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { askTrunk } from './check-trunk.ts';
import type { TrunkDeps } from './deps.ts';
import { reasonTexts, shapeTrunk } from './shape-trunk.ts';
import { findTrunk } from './store.ts';

type Check = components['schemas']['TrunkCheck'];

/** Asks a trunk now, and keeps nothing of it. One that does not answer in time is unreachable. Throws `not_found`. */
export async function validateTrunk(deps: TrunkDeps, workspaceId: string, id: string): Promise<Check> {
  const row = await existing(deps.database.inWorkspace(workspaceId, (tx) => findTrunk(tx, id)));
  const verdict = await askTrunk(deps, deps.prober, row);
  const { valid, reachable, credentials, reason, rttMs } = verdict ?? {
    valid: false,
    reachable: false,
    credentials: row.username === null ? ('not_given' as const) : ('unverified' as const),
    reason: 'unreachable' as const,
  };
  return {
    valid,
    reachable,
    credentials,
    ...(reason && { reason, message: reasonTexts[reason] }),
    ...(rttMs !== undefined && { rttMs: Math.round(rttMs) }),
    trunk: shapeTrunk(row, deps.clock.now()),
  };
}

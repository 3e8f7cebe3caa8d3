import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { answerOnce } from '../../foundation/database/kept-answers.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { CHECK_TAKEN_UP_MS, checkWithin } from './check-trunk.ts';
import type { TrunkDeps } from './deps.ts';
import type { CountedTrunk } from './shape-trunk.ts';
import {
  findTrunk,
  hasTooManyTrunks,
  insertTrunk,
  lockTrunkNamed,
  recordTrunk,
  TOO_MANY_TRUNKS,
  type TrunkIdentity,
} from './store.ts';
import type { TrunkRow } from './trunk.ts';
import { textFaults } from './trunk-faults.ts';
import { judgeNamed } from './trunk-grants.ts';
import { olderServerFaults, trunkColumns, trunkFaults } from './trunk-settings.ts';

type Body = components['schemas']['CreateTrunk'];

/**
 * Makes a trunk and checks it. Throws `invalid_request` for one that can't be, `trunk_already_exists`, `limit_reached` and
 * `idempotency_key_reused`.
 */
export async function createTrunk(
  deps: TrunkDeps,
  workspaceId: string,
  body: Body,
  auditOf: AuditOf,
  idempotencyKey?: string,
): Promise<Made<CountedTrunk>> {
  const [id, now] = [newUuid(), deps.clock.now()];
  const { database, secrets } = deps;
  const named = idempotencyKey
    ? { operation: 'createTrunk', key: idempotencyKey, request: body, resourceId: id, now, secrets }
    : undefined;
  const columns = trunkColumns(body, { workspace_id: workspaceId, id }, secrets);
  refuse([
    ...trunkFaults({ ...(columns as object), termination_url: body.terminationUrl }, deps.trunkGuard),
    ...textFaults(body.password, '/body/password'),
  ]);
  const make = async (tx: WorkspaceTx) => {
    refuse(await olderServerFaults(body, tx));
    const due_at = new Date(now.getTime() + CHECK_TAKEN_UP_MS);
    const times = { status_since: now, due_at, created_at: now, updated_at: now };
    const { terminationUrl: termination_url, transport = 'auto' } = body;
    const made = await insertTrunk(tx, { ...columns, id, termination_url, transport, ...times });
    if (!made)
      throw await trunkTaken(tx, { terminationUrl: termination_url, transport, username: body.username ?? null });
    await judgeNamed(tx, made, { path: '/body', asks: deps.callsOut, now });
    if (await hasTooManyTrunks(tx)) throw new ServiceError('limit_reached', TOO_MANY_TRUNKS);
    await recordTrunk(tx, id, now, auditOf('trunk.created', 'trunk', toId('trk', id)));
    return made;
  };
  const { made, replayed } = await database.inWorkspace(workspaceId, (tx) =>
    answerOnce<{ id: string; unchecked?: TrunkRow }, null>(
      tx,
      named,
      async () => ({ id, unchecked: await make(tx) }),
      () => null,
      async (_nothing, made) => ({ id: made }),
    ),
  );
  if (made.unchecked) await checkWithin(deps, [made.unchecked]);
  const row = await existing(database.inWorkspace(workspaceId, (tx) => findTrunk(tx, made.id)));
  return { made: row, replayed };
}

/** Why a trunk can't be as it is wanted: another one is. */
export async function trunkTaken(tx: WorkspaceTx, identity: TrunkIdentity): Promise<ServiceError> {
  const other = await lockTrunkNamed(tx, identity);
  const named = other ? `: ${toId('trk', other.id)}` : '';
  const message = `The workspace has a trunk with this address, transport and username already${named}.`;
  return new ServiceError('trunk_already_exists', message);
}

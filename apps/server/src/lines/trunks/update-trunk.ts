import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { isUniqueViolation } from '../../foundation/database/errors.ts';
import { GIVE_AGAIN } from '../../foundation/outbound-http/same-origin.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { type ErrorDetail, existing, notFound, refuse } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { CHECK_TAKEN_UP_MS, checkWithin } from './check-trunk.ts';
import { trunkTaken } from './create-trunk.ts';
import type { TrunkDeps } from './deps.ts';
import type { CountedTrunk } from './shape-trunk.ts';
import { changeTrunk, findTrunk, lockTrunk, moveTrunk, recordTrunk, type TrunkColumns } from './store.ts';
import { endsByCheck, isReachedAlike, type TrunkRow } from './trunk.ts';
import { textFaults } from './trunk-faults.ts';
import { judgeNamed, namesOthers, numberTaken, shareNumbers } from './trunk-grants.ts';
import { apartAt } from './trunk-room.ts';
import { olderServerFaults, trunkColumns, trunkFaults } from './trunk-settings.ts';

type Body = components['schemas']['UpdateTrunk'];

/**
 * Changes what the body names, and checks the trunk if that changes how it is reached. Throws `not_found`,
 * `changed_meanwhile`, `invalid_request` for a trunk that can't be, or whose password would go to another address, or whose number is another workspace's there, and `trunk_already_exists`.
 */
export async function updateTrunk(
  deps: TrunkDeps,
  workspaceId: string,
  id: string,
  body: Body,
  auditOf: AuditOf,
  ifMatch?: string,
): Promise<CountedTrunk> {
  const row = await deps.database
    .inWorkspace(workspaceId, async (tx) => {
      const now = deps.clock.now();
      const before = await existing(lockTrunk(tx, id));
      checkEdition(before, ifMatch);
      refuse(managedFaults(before, body));
      const changes = trunkColumns(body, before, deps.secrets);
      refuse([
        ...trunkFaults({ ...before, ...(changes as object) }, deps.trunkGuard),
        ...textFaults(body.password, '/body/password'),
        ...passwordFaults(before, changes),
        ...(await olderServerFaults(body, tx)),
      ]);
      if (Object.keys(changes).length === 0) return before;
      const after = await writeTrunk(tx, before, changes, now);
      if (namesOthers(changes)) await judgeNamed(tx, after, { path: '/body', asks: deps.callsOut, now });
      if (namesOthers(changes) || changes.inbound_digest !== undefined) await shareNumbers(tx, after, deps.callsOut);
      await recordTrunk(tx, id, now, auditOf('trunk.updated', 'trunk', toId('trk', id)));
      if (after.status !== before.status) await deps.onTurned(tx, id, now);
      return after;
    })
    .catch(async (error) => {
      const path = `/body/${['terminationUrl', 'outboundProxy', 'ipAllowlist'].find((field) => field in body) ?? 'inboundDigest'}`;
      if (!isUniqueViolation(error, 'trunks_identity'))
        throw await numberTaken(deps.database, error, { workspaceId, trunkId: id, path });
      throw await deps.database.inWorkspace(workspaceId, (tx) => takenBy(tx, id, body));
    });
  if (row.due_at && row.checked_at === null) await checkWithin(deps, [row]);
  return (await deps.database.inWorkspace(workspaceId, (tx) => findTrunk(tx, id))) ?? Promise.reject(notFound());
}

const ofManager = [
  'terminationUrl',
  'transport',
  'outboundProxy',
  'username',
  'password',
  'authUsername',
  'register',
] as const;

/** How a trunk is reached that was made at a provider is agreed with that. */
function managedFaults({ managed_by }: TrunkRow, body: Body): ErrorDetail[] {
  if (managed_by === null) return [];
  const message = `can't be changed: the trunk was made in the account with ${managed_by}`;
  return ofManager.flatMap((field) => (body[field] === undefined ? [] : [{ path: `/body/${field}`, message }]));
}

/** The digest of a password is sent wherever the trunk is, and may be guessed from there: it is given with the address. */
function passwordFaults(before: TrunkRow, changes: TrunkColumns): ErrorDetail[] {
  if (before.password === null || changes.password !== undefined) return [];
  const { termination_url: address = before.termination_url, outbound_proxy: proxy } = changes;
  const isMoved = placeOf(address) !== placeOf(before.termination_url);
  const isSentElsewhere = typeof proxy === 'string' && placeOf(proxy) !== placeOf(before.outbound_proxy ?? '');
  return isMoved || isSentElsewhere ? [{ path: '/body/password', message: GIVE_AGAIN }] : [];
}

/** Scheme, host and port of an address of SIP. */
export const placeOf = (uri: string) => uri.toLowerCase().replace(/^sip:|;.*$/g, '');

async function takenBy(tx: WorkspaceTx, id: string, body: Body): Promise<Error> {
  const row = await lockTrunk(tx, id);
  return trunkTaken(tx, {
    terminationUrl: body.terminationUrl ?? row?.termination_url ?? '',
    transport: body.transport ?? row?.transport ?? 'auto',
    username: body.username === undefined ? (row?.username ?? null) : body.username,
  });
}

/** Writes a client's changes of a locked trunk. One that is reached otherwise from now on calls nobody until it was checked. */
export async function writeTrunk(
  tx: WorkspaceTx,
  before: TrunkRow,
  changes: TrunkColumns,
  now: Date,
): Promise<TrunkRow> {
  const pace = changes.calls_per_second;
  // A slot that a slower pace has put off comes as soon as the new one lets it.
  const soonest =
    pace !== undefined && new Date(Math.min(before.next_start_at.getTime(), now.getTime() + apartAt(pace)));
  const revised = {
    ...changes,
    ...(soonest && { next_start_at: soonest }),
    revision: before.revision + 1,
    edition: before.edition + 1,
    updated_at: now,
  };
  if (isReachedAlike(before, { ...before, ...(changes as object) })) return changeTrunk(tx, before.id, revised);
  const due = { ...revised, checked_at: null, due_at: new Date(now.getTime() + CHECK_TAKEN_UP_MS) };
  const unchecked = { ...due, reason: 'unchecked', message: null, status_since: now };
  if (before.status === 'active') return moveTrunk(tx, before, 'paused', unchecked);
  return changeTrunk(tx, before.id, endsByCheck(before.reason) ? unchecked : due);
}

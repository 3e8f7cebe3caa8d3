import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { notFound, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import { trunkNamed } from '../trunks/short-form.ts';
import { lockTrunk } from '../trunks/store.ts';
import type { TrunkRow } from '../trunks/trunk.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { needsTrunk, type PhoneNumberRow } from './phone-number.ts';

type Body = components['schemas']['UpdatePhoneNumber'];

/**
 * The trunk on which a change puts a locked number: null for none, undefined where it stays where it is, on a trunk that
 * may have changed. Throws `invalid_request`, and `not_found` for an unknown trunk.
 */
export async function trunkAfter(
  deps: PhoneNumberDeps,
  tx: WorkspaceTx,
  before: PhoneNumberRow,
  { trunkId, outboundTermination, sipConfig }: Body,
  now: Date,
): Promise<TrunkRow | null | undefined> {
  const named = { trunkId, outboundTermination, sipConfig };
  const fields = Object.entries(named).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  if (fields.length === 0) return undefined;
  const fault = (field: string, message: string) => refuse([{ path: `/body/${field}`, message }]);
  if (!needsTrunk(before)) fault(fields[0]!, 'is not for numbers of the simulator');
  if (trunkId !== undefined && fields.length > 1)
    fault('trunkId', 'cannot stand beside outboundTermination or sipConfig');
  if (trunkId) return knownTrunk(tx, trunkId);
  if (trunkId === null || (outboundTermination === null && !sipConfig)) return null;
  const terminationUrl = outboundTermination === undefined ? before.sip_termination_url : outboundTermination;
  if (terminationUrl === null) fault('sipConfig', 'needs outboundTermination, since the number is on no trunk');
  const config = { ...sipConfig, terminationUrl: terminationUrl! };
  const isShared = before.trunk_id !== null && (await hasOthers(tx, before));
  const current = { currentId: before.trunk_id, isShared };
  return trunkNamed(deps, tx, { config, ...current }, now).catch((error) => {
    throw error instanceof ServiceError ? atTermination(error) : error;
  });
}

async function knownTrunk(tx: WorkspaceTx, trunkId: string): Promise<TrunkRow> {
  const row = await lockTrunk(tx, fromId(trunkId));
  if (!row) throw notFound('/body/trunkId');
  return row;
}

/** Whether other numbers call over a number's trunk too. */
async function hasOthers(tx: WorkspaceTx, { id, trunk_id }: PhoneNumberRow): Promise<boolean> {
  const { rows } = await sql`
    select from phone_numbers where workspace_id = ${tx.workspaceId} and trunk_id = ${trunk_id} and id <> ${id}
      and status <> 'released' limit 1`.execute(tx.db);
  return rows.length > 0;
}

/** Where a change of a number names the address. */
function atTermination(error: ServiceError): ServiceError {
  const [from, to] = ['/body/sipConfig/terminationUrl', '/body/outboundTermination'];
  const details = error.details?.map((each) => (each.path === from ? { ...each, path: to } : each));
  return new ServiceError(error.code, error.message.replaceAll(from.slice(1), to.slice(1)), details ? { details } : {});
}

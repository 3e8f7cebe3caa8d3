import { type SqlBool, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { isUniqueViolation } from '../../foundation/database/errors.ts';
import { toId } from '../../foundation/values/ids.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { detailsOfUse } from '../../platform/workspace/details-of-use.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { isImported, needsTrunk, type PhoneNumberRow } from './phone-number.ts';
import { marketOf, providerError } from './providers.ts';
import { recordNumber } from './record-number.ts';
import { changeNumber, isHeldElsewhere, lockNumber, moveNumber, readNumber } from './store.ts';

/** When another server takes up a release, if this one has died over it. */
const TAKE_UP_MS = 60_000;

/**
 * Releases a number. One that a provider holds is `suspended` while that is asked, so that nobody starts to use it, and
 * is what it was again if the provider fails. Throws `not_found`, `number_in_use` and `provider_error`.
 */
export async function releaseNumber(
  deps: PhoneNumberDeps,
  workspaceId: string,
  id: string,
  auditOf: AuditOf,
): Promise<void> {
  const row = await deps.database.inWorkspace(workspaceId, (tx) => beginRelease(deps, tx, id, auditOf));
  if (row.status === 'released') return;
  try {
    await giveBack(deps, row);
  } catch (error) {
    await deps.database
      .inWorkspace(workspaceId, (tx) => callOffRelease(tx, id, deps.clock.now()))
      .catch((failed) => {
        // It stays suspended where another workspace has got it in the meantime.
        if (!isUniqueViolation(failed, 'phone_numbers_owner')) throw failed;
      });
    throw error instanceof ServiceError ? error : providerError(error, row.provider);
  }
  await deps.database.inWorkspace(workspaceId, (tx) => endRelease(deps, tx, id, auditOf));
}

/** Goes on with a release whose server has died over it. Throws what the provider throws; it stays due then. */
export async function releaseDue(deps: PhoneNumberDeps, row: PhoneNumberRow): Promise<void> {
  await giveBack(deps, row);
  await deps.database.inWorkspace(row.workspace_id, async (tx) => {
    const current = await lockNumber(tx, row.id);
    if (current?.releasing_from) await release(deps, tx, current);
  });
}

/** Gives a number back to its provider, unless that has sold it to another workspace since: then it was given back. */
export async function giveBack(deps: PhoneNumberDeps, row: PhoneNumberRow): Promise<void> {
  const { phone_number: phoneNumber, provider_number_id: providerNumberId } = row;
  if (await deps.database.inEngine((tx) => isHeldElsewhere(tx, row))) return;
  const number = { phoneNumber, ...(providerNumberId !== null && { providerNumberId }) };
  await (await marketOf(deps, row)).releaseNumber(number);
}

/** Locks the number, and decides in one statement after that: an active campaign has either committed or waits for us. */
async function beginRelease(
  deps: PhoneNumberDeps,
  tx: WorkspaceTx,
  id: string,
  auditOf: AuditOf,
): Promise<PhoneNumberRow> {
  const now = deps.clock.now();
  await holdPool(tx, id);
  const before = await lockNumber(tx, id);
  if (!before || before.status === 'released') throw notFound();
  if (before.releasing_from) throw new ServiceError('number_in_use', 'The number is being released just now.');
  const held = !isImported(before) && (before.status === 'active' || before.status === 'suspended');
  const marked = await tx.db
    .updateTable('phone_numbers')
    .set(
      held
        ? {
            releasing_from: before.status === 'active' ? 'active' : 'suspended',
            due_at: new Date(now.getTime() + TAKE_UP_MS),
          }
        : { due_at: before.status === 'provisioning' ? now : before.status === 'failed' ? before.due_at : null },
    )
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where(sql<SqlBool>`
      not exists (select from campaigns c where c.workspace_id = ${tx.workspaceId} and c.phone_number_id = ${id}
        and c.status in ('scheduled', 'running', 'paused'))
      and not exists (select from calls c where c.workspace_id = ${tx.workspaceId} and c.phone_number_id = ${id}
        and c.ended_at is null)
      and not exists (select from call_intents i where i.workspace_id = ${tx.workspaceId} and i.phone_number_id = ${id}
        and i.next_attempt_at is not null)`)
    .returning('id')
    .executeTakeFirst();
  if (!marked) {
    const details = await detailsOfUse(tx, 'phone_number_id', id);
    throw new ServiceError('number_in_use', await reasonOf(tx, id), details.length > 0 ? { details } : {});
  }
  const row = (await readNumber(tx, id))!;
  if (!held) return release(deps, tx, row, auditOf);
  return row.status === 'active' ? moveNumber(tx, row, 'suspended', {}) : row;
}

/** Keeps claims from the number's pool out: what they have called from it is committed, and they won't choose it now. */
async function holdPool(tx: WorkspaceTx, id: string): Promise<void> {
  await sql`
    select from number_usage u join number_pools p on p.workspace_id = u.workspace_id and p.id = u.pool_id
    where u.workspace_id = ${tx.workspaceId} and u.phone_number_id = ${id} for share of p`.execute(tx.db);
}

async function reasonOf(tx: WorkspaceTx, id: string): Promise<string> {
  const campaign = await tx.db
    .selectFrom('campaigns')
    .select(['name', 'kind'])
    .where('workspace_id', '=', tx.workspaceId)
    .where('phone_number_id', '=', id)
    .where(sql<SqlBool>`status in ('scheduled', 'running', 'paused')`)
    .limit(1)
    .executeTakeFirst();
  if (campaign?.kind === 'batch') return 'A batch uses this number. Cancel it first.';
  if (campaign) return `The campaign "${campaign.name}" uses this number. Stop it first, or change its number.`;
  const call = await tx.db
    .selectFrom('call_intents')
    .select('id')
    .where('workspace_id', '=', tx.workspaceId)
    .where('phone_number_id', '=', id)
    .where('next_attempt_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (call) return `The call ${toId('room', call.id)} waits to be placed from this number. End it first.`;
  return 'A call with this number is up. Wait until it has ended, or end it.';
}

async function callOffRelease(tx: WorkspaceTx, id: string, now: Date): Promise<void> {
  const current = await lockNumber(tx, id);
  if (!current?.releasing_from) return;
  const before = { releasing_from: null, due_at: needsTrunk(current) ? now : null };
  if (current.releasing_from === 'active') await moveNumber(tx, current, 'active', before);
  else await changeNumber(tx, id, before);
}

async function endRelease(deps: PhoneNumberDeps, tx: WorkspaceTx, id: string, auditOf: AuditOf): Promise<void> {
  const current = await lockNumber(tx, id);
  if (!current || current.status === 'released') throw notFound();
  await release(deps, tx, current, auditOf);
}

/** The number's last event. It is out of reach from now on, and the workspace may get it anew. */
async function release(
  deps: PhoneNumberDeps,
  tx: WorkspaceTx,
  row: PhoneNumberRow,
  auditOf?: AuditOf,
): Promise<PhoneNumberRow> {
  const now = deps.clock.now();
  const released = await moveNumber(tx, row, 'released', {
    releasing_from: null,
    // A purchase that is under way, or was given up, stays due: what comes of it must be given back.
    due_at: row.status === 'provisioning' || row.status === 'failed' ? row.due_at : null,
    revision: row.revision + 1,
    updated_at: now,
  });
  await deps.onReleased(tx, row.id);
  const auditEntry = auditOf?.('phone_number.released', 'phone_number', toId('pn', row.id));
  await recordNumber(tx, released, now, auditEntry);
  return released;
}

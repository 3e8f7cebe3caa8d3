import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { answerOnce, findAnswer } from '../../foundation/database/kept-answers.ts';
import { isE164 } from '../../foundation/values/e164.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId, newUuid, toId } from '../../foundation/values/ids.ts';
import { refuse, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { checkWithin } from '../trunks/check-trunk.ts';
import { trunkNamed } from '../trunks/short-form.ts';
import { lockTrunk } from '../trunks/store.ts';
import type { TrunkRow } from '../trunks/trunk.ts';
import { numberTaken, sharing } from '../trunks/trunk-grants.ts';
import { boundAgent } from './bound-agent.ts';
import { inboundUrlFaults } from './check-inbound-url.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { countryOfNumber, findPlan } from './numbering-plan.ts';
import { IMPORTED, type PhoneNumberRow } from './phone-number.ts';
import { recordNumber } from './record-number.ts';
import { forgetFailed, readNumbers, roomForNumbers, TOO_MANY_NUMBERS } from './store.ts';
import { trunkChoiceFaults } from './trunk-choice.ts';

type Body = components['schemas']['ImportPhoneNumbers'];
type Rejected = components['schemas']['RejectedPhoneNumber'];

/** What an import has come to: the UUIDs of what it made, and why not, by the places of the numbers in the request. */
interface Outcome {
  ids: string[];
  rejected: [at: number, code: Rejected['code']][];
}

/**
 * Imports owned numbers with their trunk, each for itself, and checks the trunk. Throws `invalid_request` for a trunk that
 * can't be, a webhook that can't be asked, and an unknown agent, and `idempotency_key_reused`.
 * @returns the imported numbers that are still there, and why the others are not
 */
export async function importNumbers(
  deps: PhoneNumberDeps,
  workspaceId: string,
  body: Body,
  auditOf: AuditOf,
  idempotencyKey?: string,
): Promise<Made<{ imported: PhoneNumberRow[]; rejected: Rejected[] }>> {
  refuse(trunkChoiceFaults(body));
  refuse(inboundUrlFaults(deps.guard, body.inboundWebhookUrl));
  const { database, clock, secrets } = deps;
  const asked = { request: body, resourceId: newUuid(), now: clock.now(), secrets };
  const named = idempotencyKey ? { operation: 'importPhoneNumbers', key: idempotencyKey, ...asked } : undefined;
  // Before the agents are looked for: what was imported once is answered again, whatever has changed.
  const earlier = named && (await database.inWorkspace(workspaceId, (tx) => findAnswer<Outcome>(tx, named)));
  if (earlier) return { made: await shownOutcome(deps, workspaceId, body, earlier.kept), replayed: true };
  const shared = await sharedColumns(deps, workspaceId, body);
  const { made, replayed } = await database
    .inWorkspace(workspaceId, (tx) =>
      answerOnce<{ outcome: Outcome; trunk?: TrunkRow }, Outcome>(
        tx,
        named,
        () => insertGood(deps, tx, body, shared, auditOf),
        ({ outcome }) => outcome,
        async (outcome) => ({ outcome }),
      ),
    )
    .catch(async (error) => {
      // The trunk that the short form names has other numbers, which it would bring there.
      throw await numberTaken(database, error, { workspaceId, trunkId: null, path: '/body/sipConfig' });
    });
  if (made.trunk?.checked_at === null) await checkWithin(deps, [made.trunk]);
  return { made: await shownOutcome(deps, workspaceId, body, made.outcome), replayed };
}

async function insertGood(
  deps: PhoneNumberDeps,
  tx: WorkspaceTx,
  body: Body,
  shared: Omit<Shared, 'trunk_id' | 'shared'>,
  auditOf: AuditOf,
): Promise<{ outcome: Outcome; trunk: TrunkRow }> {
  const { good, sorted } = sort(body.phoneNumbers);
  const trunk = await trunkWanted(deps, tx, body);
  await forgetFailed(tx, good, deps.clock.now(), deps.onReleased);
  const room = await roomForNumbers(tx);
  const there = await numbersThere(tx, good);
  const fresh = good.filter((phoneNumber) => !there.has(phoneNumber));
  const beyond = new Set(fresh.slice(room));
  const isShared = (await sharing(tx, deps.callsOut))(trunk);
  const columns = { ...shared, trunk_id: trunk.id, shared: isShared };
  const made = await insert(deps, tx, fresh.slice(0, room), columns, auditOf);
  const imported = new Set(made.map((row) => row.phone_number));
  const own = await numbersThere(tx, good);
  const rejected = sorted.flatMap(({ phoneNumber, code }, at): Outcome['rejected'] => {
    if (code) return [[at, code]];
    if (imported.has(phoneNumber)) return [];
    if (beyond.has(phoneNumber)) return [[at, 'limit_reached']];
    return [[at, own.has(phoneNumber) ? 'number_already_exists' : 'number_unavailable']];
  });
  return { outcome: { ids: made.map((row) => row.id), rejected }, trunk };
}

/** What an import has come to, as it is now. */
async function shownOutcome(
  { database }: PhoneNumberDeps,
  workspaceId: string,
  { phoneNumbers }: Body,
  { ids, rejected }: Outcome,
): Promise<{ imported: PhoneNumberRow[]; rejected: Rejected[] }> {
  const now = await database.inWorkspace(workspaceId, (tx) => readNumbers(tx, ids));
  const kept = now.filter((row) => row.status !== 'released');
  const byNumber = new Map(kept.map((row) => [row.phone_number, row]));
  return {
    imported: [...new Set(phoneNumbers)].flatMap((phoneNumber) => byNumber.get(phoneNumber) ?? []),
    rejected: rejected.map(([at, code]) => rejection(phoneNumbers[at]!, code)),
  };
}

const faults: Record<Rejected['code'], string> = {
  invalid_number: 'This is not a phone number in E.164 form, such as +14155550100, or no numbering plan has it.',
  duplicate: 'The number was named before in this request.',
  number_already_exists: 'The workspace has this number already.',
  number_not_allowed: 'Premium-rate numbers, and those that cost as much, cannot be imported.',
  limit_reached: TOO_MANY_NUMBERS,
  number_unavailable: 'This number is in use on this server already. If it is yours, ask the operator to move it.',
};

const rejection = (phoneNumber: string, code: Rejected['code']): Rejected => ({
  phoneNumber,
  code,
  error: faults[code],
});

/** The numbers that may be imported, and what is wrong with the others, in the order that they were sent. */
function sort(phoneNumbers: readonly string[]) {
  const good = new Set<string>();
  const sorted = phoneNumbers.map((phoneNumber) => {
    const plan = isE164(phoneNumber) ? findPlan(phoneNumber.slice(1)) : undefined;
    if (!plan) return { phoneNumber, code: 'invalid_number' as const };
    if (plan.isCostly) return { phoneNumber, code: 'number_not_allowed' as const };
    if (good.has(phoneNumber)) return { phoneNumber, code: 'duplicate' as const };
    good.add(phoneNumber);
    return { phoneNumber, code: undefined };
  });
  return { good: [...good], sorted };
}

async function sharedColumns(deps: PhoneNumberDeps, workspaceId: string, body: Body) {
  const inbound = await boundAgent(deps.agents, workspaceId, body.inboundAgentId, '/body/inboundAgentId');
  const outbound = await boundAgent(deps.agents, workspaceId, body.outboundAgentId, '/body/outboundAgentId');
  return {
    friendly_name: body.friendlyName ?? null,
    label: body.label ?? null,
    inbound_agent_id: inbound?.id ?? null,
    inbound_agent_name: inbound?.name ?? null,
    outbound_agent_id: outbound?.id ?? null,
    outbound_agent_name: outbound?.name ?? null,
    inbound_webhook_url: body.inboundWebhookUrl ?? null,
  };
}

/** The trunk of a request, by its ID or in short. */
async function trunkWanted(deps: PhoneNumberDeps, tx: WorkspaceTx, body: Body): Promise<TrunkRow> {
  if (body.sipConfig) return trunkNamed(deps, tx, { config: withoutNulls(body.sipConfig) }, deps.clock.now());
  const row = await lockTrunk(tx, fromId(body.trunkId!));
  if (row) return row;
  const message = `There is no trunk ${body.trunkId}.`;
  throw new ServiceError('invalid_request', message, { details: [{ path: '/body/trunkId', message }] });
}

/** What is null is as if it were left out: it takes nothing off a trunk that is there. */
const withoutNulls = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as T;

/** Which of some numbers the workspace has. */
async function numbersThere(tx: WorkspaceTx, phoneNumbers: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ phone_number: string }>`
    select phone_number from phone_numbers
    where workspace_id = ${tx.workspaceId} and phone_number = any(${phoneNumbers}) and status <> 'released'`.execute(
    tx.db,
  );
  return new Set(rows.map((row) => row.phone_number));
}

type Shared = Awaited<ReturnType<typeof sharedColumns>> & { trunk_id: string; shared: boolean };

/** Answers those numbers that neither this workspace had, nor another one where both can be called from. */
async function insert(
  deps: PhoneNumberDeps,
  tx: WorkspaceTx,
  phoneNumbers: string[],
  shared: Shared,
  auditOf: AuditOf,
): Promise<PhoneNumberRow[]> {
  if (phoneNumbers.length === 0) return [];
  const now = deps.clock.now();
  // Sorted, so that two imports of the same numbers wait for each other in one order.
  const rows = phoneNumbers.toSorted().map((phone_number) => ({
    ...shared,
    workspace_id: tx.workspaceId,
    id: newUuid(),
    phone_number,
    country: countryOfNumber(Number(phone_number.slice(1))) ?? null,
    status: 'active' as const,
    provider: IMPORTED,
    created_at: now,
    updated_at: now,
  }));
  const inserted = await tx.db
    .insertInto('phone_numbers')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  const made = await readNumbers(
    tx,
    inserted.map((row) => row.id),
  );
  for (const row of made) {
    await recordNumber(tx, row, now, auditOf('phone_number.imported', 'phone_number', toId('pn', row.id)));
  }
  return made;
}

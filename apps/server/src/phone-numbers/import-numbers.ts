import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from '@trunkline/client/schema';
import type { WorkspaceTx } from '../database/database.ts';
import { newUuid, toId } from '../ids.ts';
import type { ActorOf } from '../journal/actor.ts';
import { boundAgent } from './bound-agent.ts';
import { inboundUrlFaults } from './check-inbound-url.ts';
import { allowlistFaults, refuse, terminationFaults } from './check-sip-config.ts';
import { checkTrunks, TRUNK_CHECK_MS } from './check-trunks.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { countryOfNumber } from './numbering-plan.ts';
import { type PhoneNumberRow, passwordPlace } from './phone-number.ts';
import { recordNumber } from './record-number.ts';
import { forgetFailed, readNumbers } from './store.ts';

type Body = components['schemas']['ImportPhoneNumbers'];
type Rejected = components['schemas']['RejectedPhoneNumber'];

const E164 = /^\+[1-9][0-9]{6,14}$/;
/** A trunk that has not answered by then is checked again by a background task. */
export const CHECK_TAKEN_UP_MS = 30_000;

/**
 * Imports owned numbers with their trunk, each for itself, and checks the trunk. Throws `invalid_request` for a trunk that
 * can't be, a webhook that can't be asked, and an unknown agent.
 */
export async function importNumbers(
  deps: PhoneNumberDeps,
  workspaceId: string,
  body: Body,
  actorOf: ActorOf,
): Promise<{ imported: PhoneNumberRow[]; rejected: Rejected[] }> {
  const path = '/body/sipConfig';
  refuse([
    ...terminationFaults(body.sipConfig.terminationUrl, `${path}/terminationUrl`),
    ...allowlistFaults(body.sipConfig.ipAllowlist ?? [], `${path}/ipAllowlist`),
    ...inboundUrlFaults(deps.guard, body.inboundWebhookUrl),
  ]);
  const shared = await sharedColumns(deps, workspaceId, body);
  const { good, sorted } = sort(body.phoneNumbers);
  const inserted = await deps.database.inWorkspace(workspaceId, (tx) => insert(deps, tx, good, body, shared, actorOf));
  await withinCheckTime(deps, checkTrunks(deps, inserted));
  const ids = inserted.map((row) => row.id);
  const now = await deps.database.inWorkspace(workspaceId, (tx) => readNumbers(tx, ids));
  const byNumber = new Map(now.map((row) => [row.phone_number, row]));
  const rejected = sorted.flatMap(({ phoneNumber, code }) => {
    if (code) return [rejection(phoneNumber, code)];
    return byNumber.has(phoneNumber) ? [] : [rejection(phoneNumber, 'number_already_exists')];
  });
  return { imported: good.flatMap((phoneNumber) => byNumber.get(phoneNumber) ?? []), rejected };
}

/** Waits for a check of trunks, but not longer than a check may take. */
export async function withinCheckTime(deps: PhoneNumberDeps, check: Promise<unknown>): Promise<void> {
  const logged = check.catch((error) => deps.log.error({ err: error }, 'trunks were not checked; they stay due'));
  const late = new AbortController();
  await Promise.race([logged, sleep(deps.trunkCheckMs ?? TRUNK_CHECK_MS, undefined, { signal: late.signal })]);
  late.abort();
}

const faults: Record<Rejected['code'], string> = {
  invalid_number: 'This is not a phone number in E.164 form, such as +14155550100.',
  duplicate: 'The number was named before in this request.',
  number_already_exists: 'The workspace has this number already.',
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
    if (!E164.test(phoneNumber)) return { phoneNumber, code: 'invalid_number' as const };
    if (good.has(phoneNumber)) return { phoneNumber, code: 'duplicate' as const };
    good.add(phoneNumber);
    return { phoneNumber, code: undefined };
  });
  return { good: [...good], sorted };
}

async function sharedColumns(deps: PhoneNumberDeps, workspaceId: string, body: Body) {
  const inbound = await boundAgent(deps.agents, workspaceId, body.inboundAgentId, '/body/inboundAgentId');
  const outbound = await boundAgent(deps.agents, workspaceId, body.outboundAgentId, '/body/outboundAgentId');
  const { terminationUrl, username, transport, ipAllowlist } = body.sipConfig;
  return {
    friendly_name: body.friendlyName ?? null,
    label: body.label ?? null,
    inbound_agent_id: inbound?.id ?? null,
    inbound_agent_name: inbound?.name ?? null,
    outbound_agent_id: outbound?.id ?? null,
    outbound_agent_name: outbound?.name ?? null,
    inbound_webhook_url: body.inboundWebhookUrl ?? null,
    sip_termination_url: terminationUrl,
    sip_username: username ?? null,
    sip_transport: transport ?? ('auto' as const),
    sip_ip_allowlist: ipAllowlist ?? null,
  };
}

/** Answers the rows of those numbers that the workspace did not have. */
async function insert(
  deps: PhoneNumberDeps,
  tx: WorkspaceTx,
  phoneNumbers: string[],
  body: Body,
  shared: Awaited<ReturnType<typeof sharedColumns>>,
  actorOf: ActorOf,
): Promise<PhoneNumberRow[]> {
  if (phoneNumbers.length === 0) return [];
  const now = deps.clock.now();
  await forgetFailed(tx, phoneNumbers, now, deps.onReleased);
  const { password } = body.sipConfig;
  // Sorted, so that two imports of the same numbers wait for each other in one order.
  const rows = phoneNumbers.toSorted().map((phone_number) => {
    const row = { workspace_id: tx.workspaceId, id: newUuid() };
    return {
      ...row,
      ...shared,
      phone_number,
      country: countryOfNumber(Number(phone_number.slice(1))) ?? null,
      status: 'active' as const,
      provider: 'sip' as const,
      sip_password: password === undefined ? null : deps.secrets.encrypt(password, passwordPlace(row)),
      due_at: new Date(now.getTime() + CHECK_TAKEN_UP_MS),
      created_at: now,
      updated_at: now,
    };
  });
  const inserted = await tx.db
    .insertInto('phone_numbers')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .execute();
  for (const row of inserted) {
    await recordNumber(tx, row, now, actorOf('phone_number.imported', 'phone_number', toId('pn', row.id)));
  }
  return inserted;
}

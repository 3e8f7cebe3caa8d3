import type { components } from '@trunkline/client/schema';
import type { Updateable } from 'kysely';
import type { Schema } from '../database/schema.ts';
import type { Secrets } from '../database/secrets.ts';
import { toId } from '../ids.ts';
import type { ActorOf } from '../journal/actor.ts';
import { notFound } from '../service-error.ts';
import { type BoundAgent, boundAgent } from './bound-agent.ts';
import { inboundUrlFaults } from './check-inbound-url.ts';
import { allowlistFaults, refuse, terminationFaults } from './check-sip-config.ts';
import { checkTrunks } from './check-trunks.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { CHECK_TAKEN_UP_MS, withinCheckTime } from './import-numbers.ts';
import { type PhoneNumberRow, passwordPlace, sameTrunk } from './phone-number.ts';
import { recordNumber } from './record-number.ts';
import { changeNumber, lockNumber, readNumber } from './store.ts';

type Body = components['schemas']['UpdatePhoneNumber'];
type Changes = Updateable<Schema['phone_numbers']>;

/**
 * Changes what the body names, and checks the trunk if that has changed. Throws `not_found`, and `invalid_request` for an
 * unknown agent, agents that contradict each other, a webhook that can't be asked, and a trunk that can't be.
 */
export async function updateNumber(
  deps: PhoneNumberDeps,
  workspaceId: string,
  id: string,
  body: Body,
  actorOf: ActorOf,
): Promise<PhoneNumberRow> {
  refuse([
    ...terminationFaults(body.outboundTermination ?? 'host', '/body/outboundTermination'),
    ...allowlistFaults(body.sipConfig?.ipAllowlist ?? [], '/body/sipConfig/ipAllowlist'),
    ...inboundUrlFaults(deps.guard, body.inboundWebhookUrl),
  ]);
  const inbound = await boundAgent(deps.agents, workspaceId, body.inboundAgentId, '/body/inboundAgentId');
  const outbound = await boundAgent(deps.agents, workspaceId, body.outboundAgentId, '/body/outboundAgentId');
  const { row, trunkChanged } = await deps.database.inWorkspace(workspaceId, async (tx) => {
    const now = deps.clock.now();
    const before = await lockNumber(tx, id);
    if (!before || before.status === 'released') throw notFound();
    const changes = {
      ...plainChanges(body),
      ...agentChanges(body, before, inbound, outbound),
      ...trunkChanges(body, before, deps.secrets, now),
    };
    if (Object.keys(changes).length === 0) return { row: before, trunkChanged: false };
    const after = await changeNumber(tx, id, { ...changes, revision: before.revision + 1, updated_at: now });
    await recordNumber(tx, after, now, actorOf('phone_number.updated', 'phone_number', toId('pn', id)));
    return { row: after, trunkChanged: !sameTrunk(before, after) };
  });
  if (!trunkChanged || row.sip_termination_url === null) return row;
  await withinCheckTime(deps, checkTrunks(deps, [row]));
  return (await deps.database.inWorkspace(workspaceId, (tx) => readNumber(tx, id))) ?? row;
}

function plainChanges(body: Body): Changes {
  const { friendlyName, label, inboundWebhookUrl, allowedInboundCountries, allowedOutboundCountries } = body;
  return {
    ...(friendlyName !== undefined && { friendly_name: friendlyName }),
    ...(label !== undefined && { label }),
    ...(inboundWebhookUrl !== undefined && { inbound_webhook_url: inboundWebhookUrl }),
    ...(allowedInboundCountries !== undefined && { allowed_inbound_countries: allowedInboundCountries ?? [] }),
    ...(allowedOutboundCountries !== undefined && { allowed_outbound_countries: allowedOutboundCountries ?? [] }),
  };
}

function agentChanges(
  body: Body,
  before: PhoneNumberRow,
  inbound: BoundAgent | undefined,
  outbound: BoundAgent | undefined,
): Changes {
  const after = outbound ?? { id: before.outbound_agent_id, name: before.outbound_agent_name };
  if (body.useSameForInbound && inbound && inbound.id !== after.id) {
    const message = 'must be the outbound agent, or absent, where useSameForInbound is true';
    refuse([{ path: '/body/inboundAgentId', message }]);
  }
  const inboundAfter = body.useSameForInbound ? after : inbound;
  return {
    ...(outbound && { outbound_agent_id: outbound.id, outbound_agent_name: outbound.name }),
    ...(inboundAfter && { inbound_agent_id: inboundAfter.id, inbound_agent_name: inboundAfter.name }),
  };
}

function trunkChanges(body: Body, before: PhoneNumberRow, secrets: Secrets, now: Date): Changes {
  const { outboundTermination, sipConfig = {} } = body;
  if (before.provider !== 'sip') {
    const message = 'is for imported numbers only';
    if (outboundTermination !== undefined) refuse([{ path: '/body/outboundTermination', message }]);
    if (body.sipConfig) refuse([{ path: '/body/sipConfig', message }]);
    return {};
  }
  const { username, password, transport, ipAllowlist } = sipConfig;
  const usernameAfter = username === undefined ? before.sip_username : username;
  if (password && usernameAfter === null) {
    refuse([{ path: '/body/sipConfig/password', message: 'needs a username' }]);
  }
  const passwordAfter = password ? secrets.encrypt(password, passwordPlace(before)) : null;
  const changes: Changes = {
    ...(outboundTermination !== undefined && { sip_termination_url: outboundTermination }),
    ...(username !== undefined && { sip_username: username }),
    ...((password !== undefined || username === null) && { sip_password: passwordAfter }),
    ...(transport !== undefined && { sip_transport: transport }),
    ...(ipAllowlist !== undefined && { sip_ip_allowlist: ipAllowlist }),
  };
  const after = { ...before, ...changes } as PhoneNumberRow;
  if (sameTrunk(before, after)) return changes;
  const hasTrunk = after.sip_termination_url !== null;
  const due_at = hasTrunk ? new Date(now.getTime() + CHECK_TAKEN_UP_MS) : null;
  return { ...changes, trunk_valid: null, trunk_checked_at: null, trunk_detail: null, due_at };
}

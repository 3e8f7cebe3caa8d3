import type { Updateable } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Schema } from '../../foundation/database/schema.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { notFound, refuse } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { checkWithin } from '../trunks/check-trunk.ts';
import { numberTaken, sharing } from '../trunks/trunk-grants.ts';
import { type BoundAgent, boundAgent } from './bound-agent.ts';
import { inboundUrlFaults } from './check-inbound-url.ts';
import type { PhoneNumberDeps } from './deps.ts';
import type { PhoneNumberRow } from './phone-number.ts';
import { recordNumber } from './record-number.ts';
import { changeNumber, lockNumber, readNumber } from './store.ts';
import { trunkAfter } from './trunk-of-number.ts';

type Body = components['schemas']['UpdatePhoneNumber'];
type Changes = Updateable<Schema['phone_numbers']>;

/**
 * Changes what the body names, and checks the trunk if that has changed. Throws `not_found`, `changed_meanwhile`, and `invalid_request` for an
 * unknown agent, agents that contradict each other, a webhook that can't be asked, and a trunk that can't be.
 */
export async function updateNumber(
  deps: PhoneNumberDeps,
  workspaceId: string,
  id: string,
  body: Body,
  auditOf: AuditOf,
  ifMatch?: string,
): Promise<PhoneNumberRow> {
  refuse(inboundUrlFaults(deps.guard, body.inboundWebhookUrl));
  const inbound = await boundAgent(deps.agents, workspaceId, body.inboundAgentId, '/body/inboundAgentId');
  const outbound = await boundAgent(deps.agents, workspaceId, body.outboundAgentId, '/body/outboundAgentId');
  const bound = { inbound, outbound };
  let trunkId: string | null = null;
  const change = async (tx: WorkspaceTx) => {
    const now = deps.clock.now();
    const before = await lockNumber(tx, id);
    if (!before || before.status === 'released') throw notFound();
    checkEdition(before, ifMatch);
    trunkId = before.trunk_id;
    const trunk = await trunkAfter(deps, tx, before, body, now);
    const changes = {
      ...plainChanges(body),
      ...agentChanges(body, before, bound),
      ...(trunk === null && { trunk_id: null, connects: false }),
      ...(trunk && { trunk_id: trunk.id, connects: false, shared: (await sharing(tx, deps.callsOut))(trunk) }),
    };
    if (Object.keys(changes).length === 0) return { row: before, trunk };
    // The change of its trunk may have been told of it already.
    const { revision } = (await readNumber(tx, id))!;
    const counted = { revision: revision + 1, edition: before.edition + 1 };
    const after = await changeNumber(tx, id, { ...changes, ...counted, updated_at: now });
    await recordNumber(tx, after, now, auditOf('phone_number.updated', 'phone_number', toId('pn', id)));
    return { row: after, trunk };
  };
  const { row, trunk } = await deps.database.inWorkspace(workspaceId, change).catch(async (error) => {
    const path = `/body/${['trunkId', 'outboundTermination'].find((field) => field in body) ?? 'sipConfig'}`;
    throw await numberTaken(deps.database, error, { workspaceId, trunkId, path });
  });
  if (!trunk || trunk.checked_at !== null) return row;
  await checkWithin(deps, [trunk]);
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
  { inbound, outbound }: { inbound: BoundAgent | undefined; outbound: BoundAgent | undefined },
): Changes {
  const after = outbound ?? { id: before.outbound_agent_id, name: before.outbound_agent_name };
  const isSame = body.useSameForInbound ?? (inbound ? false : before.use_same_for_inbound);
  if (body.useSameForInbound && inbound && inbound.id !== after.id) {
    const message = 'must be the outbound agent, or absent, where useSameForInbound is true';
    refuse([{ path: '/body/inboundAgentId', message }]);
  }
  const inboundAfter = isSame && (outbound || body.useSameForInbound) ? after : inbound;
  return {
    ...(outbound && { outbound_agent_id: outbound.id, outbound_agent_name: outbound.name }),
    ...(inboundAfter && { inbound_agent_id: inboundAfter.id, inbound_agent_name: inboundAfter.name }),
    ...(isSame !== before.use_same_for_inbound && { use_same_for_inbound: isSame }),
  };
}

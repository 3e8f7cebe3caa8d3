import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { isImported, isInboundReady, type PhoneNumberRow } from './phone-number.ts';
import { outboundReason } from './why-not-from.ts';

type PhoneNumber = components['schemas']['PhoneNumber'];

/** A number as clients and webhooks see it. The SIP password stays behind. */
export function presentNumber(row: PhoneNumberRow): PhoneNumber {
  const reason = outboundReason(row);
  return {
    id: toId('pn', row.id),
    phoneNumber: row.phone_number,
    ...given({ friendlyName: row.friendly_name, label: row.label, country: row.country }),
    status: row.status,
    provider: row.provider,
    ...given({
      providerMonthlyCost: row.provider_monthly_cost === null ? null : Number(row.provider_monthly_cost),
      providerCurrency: row.provider_currency,
    }),
    isCustomerManaged: isImported(row),
    isInboundReady: isInboundReady(row),
    isOutboundReady: reason === undefined,
    ...(reason && { outboundReason: reason }),
    ...(row.pool_id !== null && { poolId: toId('pool', row.pool_id) }),
    useSameForInbound: row.use_same_for_inbound,
    ...given({
      inboundAgentPublicId: row.inbound_agent_id,
      inboundAgentName: row.inbound_agent_name,
      inboundWebhookUrl: row.inbound_webhook_url,
      outboundAgentPublicId: row.outbound_agent_id,
      outboundAgentName: row.outbound_agent_name,
      allowedInboundCountries: orNull(row.allowed_inbound_countries),
      allowedOutboundCountries: orNull(row.allowed_outbound_countries),
    }),
    ...(row.trunk_id !== null && {
      trunkId: toId('trk', row.trunk_id),
      ...given({ trunkReason: row.trunk_reason as PhoneNumber['trunkReason'] | null }),
      sipConfig: {
        transport: row.sip_transport ?? 'auto',
        ...given({
          terminationUrl: row.sip_termination_url,
          username: row.sip_username,
          ipAllowlist: orNull(row.sip_ip_allowlist),
        }),
      },
    }),
    spaceId: toId('ws', row.workspace_id),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

const orNull = (list: string[] | null): string[] | null => (list?.length ? list : null);

/** The fields that have a value: an answer holds no null. */
function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

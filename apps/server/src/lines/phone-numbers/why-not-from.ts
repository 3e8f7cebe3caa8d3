import type { components } from '../../foundation/values/generated/contract.ts';
import { needsTrunk, type PhoneNumberRow, type Provider } from './phone-number.ts';

type Row = Pick<PhoneNumberRow, 'status' | 'provider' | 'trunk_id' | 'trunk_status'>;
type OutboundReason = NonNullable<components['schemas']['PhoneNumber']['outboundReason']>;

/** Why a number can place no calls, whoever brings the agent; nothing where it can. */
export function whyNotCallable(row: Row): Exclude<OutboundReason, 'no_outbound_agent'> | undefined {
  if (row.status !== 'active') return 'not_active';
  if (!needsTrunk(row) || row.trunk_status === 'active') return undefined;
  return row.trunk_id === null ? 'no_trunk' : 'trunk_paused';
}

/** Why a number can place no calls with its own agent; nothing where it can. */
export const outboundReason = (row: Row & Pick<PhoneNumberRow, 'outbound_agent_id'>): OutboundReason | undefined =>
  whyNotCallable(row) ?? (row.outbound_agent_id === null ? 'no_outbound_agent' : undefined);

/**
 * The same for a person who wants to call from it, with what to do.
 * @param configured the providers of this server
 */
export function whyNotFrom(
  row: Row & Pick<PhoneNumberRow, 'phone_number' | 'trunk_reason'>,
  configured: readonly Provider[],
): string | undefined {
  const { phone_number: number, status, provider, trunk_reason: reason } = row;
  switch (whyNotCallable(row)) {
    case 'not_active':
      return `The number ${number} is ${status}, and can not place calls.`;
    case 'no_trunk':
      return `The number ${number} calls over no trunk. Give it one by trunkId.`;
    case 'trunk_paused':
      return `The trunk of ${number} is paused${reason === null ? '' : ` (${reason})`}. Validate it, and resume it.`;
    default:
      return configured.includes(provider)
        ? undefined
        : `The provider ${provider} of ${number} is not configured on this server.`;
  }
}

import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { given, type TrunkRow } from './trunk.ts';

export type Trunk = components['schemas']['Trunk'];
export type TrunkReason = components['schemas']['TrunkReason'];

/** A trunk with what is counted of it. */
export interface CountedTrunk extends TrunkRow, Pick<Row<'trunk_health'>, 'slowed_since' | 'slowed_until'> {
  numbers: number;
  live: number;
  /** Null where no server has begun to register. */
  registration_status: Row<'trunk_registrations'>['standing'] | null;
  registration_message: string | null;
  registered_at: Date | null;
}

/** Why a trunk calls not at all, or less, for a person. */
export const reasonTexts: Record<TrunkReason, string> = {
  requested: 'Somebody paused the trunk. Resume it to call over it again.',
  unchecked: 'The trunk was not tried since it was made or changed.',
  unreachable: 'The trunk did not answer.',
  dns_failure: 'The host of the trunk has no address.',
  tls_failure: 'No TLS connection to the trunk could be made.',
  credentials_rejected: 'The trunk rejected the username or password.',
  unreadable: 'The stored password of the trunk cannot be read. Set it again.',
  not_allowed: 'The address of the trunk, or a text of it, is not one that the server takes. Change it.',
  not_granted:
    'An address of the trunk is not granted to this workspace. Ask the operator of the server: trunkline-server trunks grant.',
  no_prober: 'No provider is configured that places calls through trunks.',
  capacity:
    'The trunk had no room for calls; they go over it more slowly. Set maxChannels and callsPerSecond to what the carrier allows.',
  forbidden:
    'The trunk refused a call (403). Ask the carrier whether it allows the number that calls and the country that is called, and resume the trunk.',
  number_format:
    'The trunk did not know or declined ten numbers in a row. Compare numberFormat and dialPrefix with what the carrier wants, look at the list that is called, and resume the trunk.',
  no_media:
    'Three answered calls in a row brought no sound. Check the firewall and the public address of the server, and resume the trunk.',
  silent:
    'The trunk left three calls in a row without any answer: nobody knows whether these people were reached, and they are not called again. Look at the firewall, and ask the carrier; then resume the trunk.',
};

/** What a trunk is in now, and why. */
export function stateOf(
  row: CountedTrunk,
  now: Date,
): Pick<Trunk, 'status' | 'reason' | 'message' | 'statusSince' | 'until'> {
  const { status, slowed_since, slowed_until } = row;
  const reason = row.reason as TrunkReason | null;
  if (status === 'paused' && reason) {
    const message = row.message === null ? reasonTexts[reason] : `${reasonTexts[reason]} It said: ${row.message}`;
    return { status, reason, message: message.slice(0, 1024), statusSince: row.status_since.toISOString() };
  }
  if (slowed_since && slowed_until && slowed_until > now) {
    const until = slowed_until.toISOString();
    const statusSince = slowed_since.toISOString();
    return { status: 'slowed', reason: 'capacity', message: reasonTexts.capacity, statusSince, until };
  }
  return { status: 'active', statusSince: row.status_since.toISOString() };
}

const registrationOf = (
  { registration_message, registered_at }: CountedTrunk,
  status: Row<'trunk_registrations'>['standing'],
): components['schemas']['TrunkRegistration'] => ({
  status,
  ...given({ message: registration_message }),
  ...(registered_at && { registeredAt: registered_at.toISOString() }),
});

/** A trunk as clients and webhooks see it. The password stays behind. */
export function shapeTrunk(row: CountedTrunk, now: Date): Trunk {
  return {
    id: toId('trk', row.id),
    terminationUrl: row.termination_url,
    transport: row.transport,
    ...given({ outboundProxy: row.outbound_proxy, username: row.username }),
    hasPassword: row.password !== null,
    ...given({ authUsername: row.auth_username, fromUser: row.from_user, fromDomain: row.from_domain }),
    register: row.register,
    ...(row.register && row.registration_status && { registration: registrationOf(row, row.registration_status) }),
    registerExpiresSeconds: row.register_expires_seconds,
    ...(row.ip_allowlist.length > 0 && { ipAllowlist: row.ip_allowlist }),
    inboundDigest: row.inbound_digest,
    probe: row.probe,
    ...given({ maxChannels: row.max_channels }),
    callsPerSecond: row.calls_per_second,
    numberFormat: row.number_format,
    ...given({ country: row.country, dialPrefix: row.dial_prefix }),
    callerIdHeader: row.caller_id_header,
    codecs: row.codecs,
    dtmf: row.dtmf,
    mediaEncryption: row.media_encryption,
    keysInClear: row.keys_in_clear,
    ...(Object.keys(row.headers).length > 0 && { headers: row.headers }),
    ...(row.headers_to_agent.length > 0 && { headersToAgent: row.headers_to_agent }),
    phoneNumberCount: row.numbers,
    liveCalls: row.live,
    ...stateOf(row, now),
    ...(row.status === 'paused' &&
      row.paused_by_number_id && { pausedByPhoneNumberId: toId('pn', row.paused_by_number_id) }),
    ...(row.status === 'paused' &&
      row.paused_by_pool_id && { pausedByNumberPoolId: toId('pool', row.paused_by_pool_id) }),
    ...given({ managedBy: row.managed_by }),
    ...(row.checked_at && { checkedAt: row.checked_at.toISOString() }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

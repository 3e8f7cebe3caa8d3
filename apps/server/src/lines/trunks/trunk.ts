import type { Row } from '../../foundation/database/schema.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Trunk } from '../telephony/trunk.ts';

/** A trunk as the database keeps it. */
export type TrunkRow = Row<'trunks'>;
export type TrunkStatus = TrunkRow['status'];

/** The states that a trunk can move to. One that is slowed is active. */
export const trunkTransitions = {
  active: ['paused'],
  paused: ['active'],
} as const satisfies Record<TrunkStatus, readonly TrunkStatus[]>;

/** What a check finds wrong with a trunk. One that passes ends a pause for these. */
export const checkReasons = [
  'unchecked',
  'unreachable',
  'dns_failure',
  'tls_failure',
  'credentials_rejected',
  'unreadable',
  'not_allowed',
  'not_granted',
  'no_prober',
] as const;
export type CheckReason = (typeof checkReasons)[number];
/** Why calls have paused a trunk: it stays so until somebody resumes it. */
export type BrakeReason = 'forbidden' | 'number_format' | 'no_media' | 'silent';
export type PauseReason = CheckReason | BrakeReason | 'requested';

/** Whether the next check that passes ends a pause. */
export const endsByCheck = (reason: string | null): reason is CheckReason =>
  checkReasons.some((each) => each === reason);

/** What a trunk's password is encrypted for: the trunk, or the number that brought it before trunks were a resource. */
export const passwordPlace = (row: Pick<TrunkRow, 'workspace_id' | 'id'> & { password_of?: string | null }): string =>
  row.password_of
    ? `phone_numbers.sip_password ${row.workspace_id} ${row.password_of}`
    : `trunks.password ${row.workspace_id} ${row.id}`;

/** A trunk as adapters take it, with its password. Throws if that can't be decrypted. */
export function trunkOf(row: TrunkRow, secrets: Secrets): Trunk {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    revision: row.revision,
    terminationUrl: row.termination_url,
    transport: row.transport,
    ...given({
      outboundProxy: row.outbound_proxy,
      username: row.username,
      password: row.password === null ? null : secrets.decrypt(row.password, passwordPlace(row)),
      authUsername: row.auth_username,
      fromUser: row.from_user,
      fromDomain: row.from_domain,
      country: row.country,
      dialPrefix: row.dial_prefix,
      maxChannels: row.max_channels,
    }),
    register: row.register,
    registerExpiresSeconds: row.register_expires_seconds,
    ipAllowlist: row.ip_allowlist,
    inboundDigest: row.inbound_digest,
    probe: row.probe,
    callsPerSecond: row.calls_per_second,
    numberFormat: row.number_format,
    callerIdHeader: row.caller_id_header,
    codecs: row.codecs,
    dtmf: row.dtmf,
    mediaEncryption: row.media_encryption,
    keysInClear: row.keys_in_clear,
    headers: row.headers,
  };
}

/** The fields that have a value. */
export function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

const reach = ['termination_url', 'transport', 'outbound_proxy', 'username', 'password', 'auth_username', 'from_user'];
const ofCheck = [...reach, 'from_domain', 'register', 'probe'] as (keyof TrunkRow)[];

/** Whether a trunk is reached in the same way as before, so that what a check found holds still. */
export const isReachedAlike = (a: TrunkRow, b: TrunkRow): boolean => ofCheck.every((column) => a[column] === b[column]);

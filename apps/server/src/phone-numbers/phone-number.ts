import { sql } from 'kysely';
import type { Row } from '../database/schema.ts';
import type { Secrets } from '../database/secrets.ts';
import type { Trunk } from '../telephony/gateway.ts';

/** A phone number as the database keeps it. */
export type PhoneNumberRow = Row<'phone_numbers'>;
export type PhoneNumberStatus = PhoneNumberRow['status'];
export type Provider = PhoneNumberRow['provider'];

/** Every provider that a number can have. */
export const providers = ['simulator', 'twilio', 'telnyx', 'sip'] as const satisfies readonly Provider[];

/** The states that a number can move to, as the contract's `x-transitions` show them. */
export const phoneNumberTransitions = {
  provisioning: ['active', 'failed', 'released'],
  active: ['suspended', 'released'],
  failed: ['released'],
  suspended: ['active', 'released'],
  released: [],
} as const satisfies Record<PhoneNumberStatus, readonly PhoneNumberStatus[]>;

/** Whether calls can be placed from a number by an agent that the caller brings: active and, on a trunk, a passed check. */
export const isCallable = (row: Pick<PhoneNumberRow, 'status' | 'provider' | 'trunk_valid'>): boolean =>
  row.status === 'active' && (row.provider !== 'sip' || row.trunk_valid === true);

/** The same in SQL, of the row `n` of `phone_numbers`, for all who call. It is null where a trunk was not tried. */
export const callable = sql<boolean>`(n.status = 'active' and (n.provider <> 'sip' or n.trunk_valid))`;

/** Whether a number can place calls with its own agent. */
export const isOutboundReady = (
  row: Pick<PhoneNumberRow, 'status' | 'provider' | 'trunk_valid' | 'outbound_agent_id'>,
): boolean => isCallable(row) && row.outbound_agent_id !== null;

/** Whether a number can receive calls. */
export const isInboundReady = (row: Pick<PhoneNumberRow, 'status' | 'inbound_agent_id'>): boolean =>
  row.status === 'active' && row.inbound_agent_id !== null;

/** What a number's SIP password is encrypted for. */
export const passwordPlace = (row: { workspace_id: string; id: string }): string =>
  `phone_numbers.sip_password ${row.workspace_id} ${row.id}`;

/** The trunk of an imported number, with its password; undefined where it has none. Throws if that can't be decrypted. */
export function trunkOf(row: PhoneNumberRow, secrets: Secrets): Trunk | undefined {
  if (row.sip_termination_url === null) return undefined;
  return {
    terminationUrl: row.sip_termination_url,
    transport: row.sip_transport ?? 'auto',
    ...(row.sip_username !== null && { username: row.sip_username }),
    ...(row.sip_password !== null && { password: secrets.decrypt(row.sip_password, passwordPlace(row)) }),
  };
}

/** Whether two rows reach their trunk the same way, and so share the result of a check. */
export const sameTrunk = (a: PhoneNumberRow, b: PhoneNumberRow): boolean =>
  a.sip_termination_url === b.sip_termination_url &&
  a.sip_transport === b.sip_transport &&
  a.sip_username === b.sip_username &&
  a.sip_password === b.sip_password;

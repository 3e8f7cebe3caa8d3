import { sql } from 'kysely';
import type { Row } from '../../foundation/database/schema.ts';

type Trunk = Row<'trunks'>;

/** A phone number as the database keeps it, with what is shown of its trunk, null where it has none, and its pool. */
export interface PhoneNumberRow extends Row<'phone_numbers'> {
  trunk_status: Trunk['status'] | null;
  trunk_reason: string | null;
  sip_termination_url: string | null;
  sip_transport: Trunk['transport'] | null;
  sip_username: string | null;
  sip_ip_allowlist: string[] | null;
  /** UUID of the pool that holds it; null where none does. */
  pool_id: string | null;
}
export type PhoneNumberStatus = PhoneNumberRow['status'];
export type Provider = PhoneNumberRow['provider'];

/** SQL for what a `PhoneNumberRow` has of its trunk, the row `t` of `trunks`, and of the pool of the number `n`. */
export const trunkColumns = sql`t.status as trunk_status, t.reason as trunk_reason,
  t.termination_url as sip_termination_url, t.transport as sip_transport, t.username as sip_username,
  t.ip_allowlist as sip_ip_allowlist, (select m.pool_id from number_usage m
    where m.workspace_id = n.workspace_id and m.phone_number_id = n.id) as pool_id`;
/** SQL that joins it to the number `n`. */
export const joinTrunk = sql`left join trunks t on t.workspace_id = n.workspace_id and t.id = n.trunk_id`;

/** Numbers that are owned elsewhere have this provider: they call over a trunk of the customer's. */
export const IMPORTED = 'sip' as const satisfies Provider;

/** Its numbers call over no trunk. */
const SIMULATED = 'simulator' as const satisfies Provider;

/** Every provider that a number can have. */
export const providers = [SIMULATED, 'twilio', 'telnyx', IMPORTED] as const satisfies readonly Provider[];

/** Whether a number is the customer's own, and no provider here has sold it. */
export const isImported = ({ provider }: Pick<PhoneNumberRow, 'provider'>): boolean => provider === IMPORTED;

/** Whether a number calls over a trunk. Only the simulator's need none. */
export const needsTrunk = ({ provider }: Pick<PhoneNumberRow, 'provider'>): boolean => provider !== SIMULATED;
/** SQL for the same of the row `n` of `phone_numbers`. */
export const onTrunk = sql<boolean>`n.provider <> ${sql.lit(SIMULATED)}`;

/** The states that a number can move to, as the contract's `x-transitions` show them. */
export const phoneNumberTransitions = {
  provisioning: ['active', 'failed', 'released'],
  active: ['suspended', 'released'],
  failed: ['released'],
  suspended: ['active', 'released'],
  released: [],
} as const satisfies Record<PhoneNumberStatus, readonly PhoneNumberStatus[]>;

/** SQL for whether calls can be placed from a number by an agent that the caller brings: active and, on a trunk, over an active one; of the row `n` of `phone_numbers`, for all who call. The trunk is read by its key. It is null where there is none. */
export const callable = sql<boolean>`(n.status = 'active' and (not ${onTrunk} or (
  select t.status = 'active' from trunks t where t.workspace_id = n.workspace_id and t.id = n.trunk_id)))`;

/** Whether a number can receive calls. */
export const isInboundReady = (row: Pick<PhoneNumberRow, 'status' | 'inbound_agent_id'>): boolean =>
  row.status === 'active' && row.inbound_agent_id !== null;

import { escapeUser, type InviteOptions } from '@trunkline/sip';
import type { CallRequest } from '../call-gateway.ts';
import type { Trunk } from '../trunk.ts';
import { dialledNumber } from './dialled-number.ts';
import { type TrunkAddress, userAt } from './trunk-address.ts';

/** Who calls, as the trunk wants to be told. */
export function callerOf(
  { trunk, from }: Pick<CallRequest, 'from'> & { trunk: Trunk },
  address: TrunkAddress,
): Pick<InviteOptions, 'from' | 'headers'> {
  const number = dialledNumber(from, { ...trunk, dialPrefix: '' });
  // Carriers that are told the number by P-Preferred-Identity or Remote-Party-ID tell their customers by From.
  const isAccount = trunk.callerIdHeader === 'ppi' || trunk.callerIdHeader === 'rpid';
  const user = trunk.fromUser ?? (isAccount && trunk.username !== undefined ? escapeUser(trunk.username) : number);
  const asserted = `<${userAt(number, address, trunk.fromDomain)}>`;
  const headers = Object.entries(trunk.headers);
  if (trunk.callerIdHeader === 'pai') headers.push(['P-Asserted-Identity', asserted]);
  if (trunk.callerIdHeader === 'ppi') headers.push(['P-Preferred-Identity', asserted]);
  if (trunk.callerIdHeader === 'rpid') headers.push(['Remote-Party-ID', `${asserted};party=calling;privacy=off`]);
  return { from: `<${userAt(user, address, trunk.fromDomain)}>`, headers };
}

import { escapeUser, type ProbeOptions, type ProbeReport, type Target, type UserAgent } from '@trunkline/sip';
import type { Trunk } from '../trunk.ts';
import type { TrunkProbe } from '../trunk-prober.ts';
import { credentialsOf, trunkAddress, userAt } from './trunk-address.ts';

const reasons: Readonly<Record<ProbeReport['reachability'], TrunkProbe['reason']>> = {
  reachable: 'ok',
  invalid: 'unreachable',
  dns: 'dns_failure',
  not_allowed: 'unreachable',
  not_granted: 'not_granted',
  refused: 'unreachable',
  timeout: 'unreachable',
  unreachable: 'unreachable',
  tls: 'tls_failure',
  server_error: 'unreachable',
};

/** Asks a trunk whether it is there and takes the credentials. */
export async function probeTrunk(userAgent: UserAgent, trunk: Trunk): Promise<TrunkProbe> {
  const { reachability, credentials, roundTripMs } = await userAgent.probe({
    ...optionsTo(trunk),
    ...credentialsOf(trunk),
    verifiesCredentials: trunk.probe !== 'options',
  });
  const reachable = reachability === 'reachable';
  const rejected = credentials === 'rejected';
  return {
    valid: reachable && !rejected,
    reachable,
    credentials,
    reason: rejected ? 'credentials_rejected' : reasons[reachability],
    ...(roundTripMs !== undefined && { rttMs: Math.round(roundTripMs) }),
  };
}

/** Asks one target of a trunk whether it is there. */
export async function askTarget(
  userAgent: UserAgent,
  trunk: Trunk,
  target: Target,
): Promise<ProbeReport['reachability']> {
  return (await userAgent.probe({ ...optionsTo(trunk), targets: [target] })).reachability;
}

function optionsTo(trunk: Trunk): ProbeOptions {
  const address = trunkAddress(trunk);
  return {
    uri: address.uri,
    transport: address.transport,
    asker: address.asker,
    ...(address.outboundProxy && { outboundProxy: address.outboundProxy }),
    ...(trunk.username !== undefined && { from: userAt(escapeUser(trunk.username), address, trunk.fromDomain) }),
  };
}

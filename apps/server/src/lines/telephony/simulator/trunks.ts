import type { Trunk } from '../trunk.ts';
import type { TrunkProbe } from '../trunk-prober.ts';

/** `sip:user@host:port;parameters`, or the host alone. */
const hostOf = (terminationUrl: string) =>
  terminationUrl
    .toLowerCase()
    .replace(/^sips?:/, '')
    .replace(/^[^@]*@/, '')
    .replace(/[:;?].*$/, '');

/** What a trunk would answer: magic hosts under `.sim`; every other host is there, and nobody asked it. */
export function probeSimulatedTrunk(trunk: Pick<Trunk, 'terminationUrl' | 'username'>): TrunkProbe {
  const given = trunk.username === undefined ? 'not_given' : 'unverified';
  // `a.ok.sim` is another trunk that answers as `ok.sim` does.
  switch (/(?:^|\.)([a-z]+\.sim)$/.exec(hostOf(trunk.terminationUrl))?.[1]) {
    case 'ok.sim':
      return {
        valid: true,
        reachable: true,
        credentials: given === 'not_given' ? given : 'verified',
        reason: 'ok',
        rttMs: 5,
      };
    case 'auth.sim':
      return { valid: false, reachable: true, credentials: 'rejected', reason: 'credentials_rejected', rttMs: 5 };
    case 'dead.sim':
      return { valid: false, reachable: false, credentials: given, reason: 'unreachable' };
    case 'tls.sim':
      return { valid: false, reachable: false, credentials: given, reason: 'tls_failure' };
    default:
      return { valid: true, reachable: true, credentials: given, reason: 'simulated' };
  }
}

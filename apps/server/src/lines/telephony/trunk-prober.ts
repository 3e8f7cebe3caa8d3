import type { Trunk } from './trunk.ts';

/** What a trunk answered. Reachability and credentials are judged apart. */
export interface TrunkProbe {
  /** Calls can be tried: reachable, and the credentials not rejected. */
  valid: boolean;
  reachable: boolean;
  credentials: 'verified' | 'rejected' | 'unverified' | 'not_given';
  reason: 'ok' | 'simulated' | 'unreachable' | 'credentials_rejected' | 'tls_failure' | 'dns_failure' | 'not_granted';
  /** Milliseconds from request to answer. */
  rttMs?: number;
}

/** Asks trunks whether they are there. Every adapter passes `test/lines/telephony/prober-conformance.ts`. */
export interface TrunkProber {
  /** Asks a trunk whether it is there and takes the credentials. A fault of the trunk is an answer, no error. */
  probeTrunk(trunk: Trunk, signal: AbortSignal): Promise<TrunkProbe>;
}

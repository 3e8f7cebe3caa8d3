import type { CheckReason } from './trunk.ts';

/** What a check has found wrong with a trunk, and what to do: what follows its name. */
export const checkFaults: Record<CheckReason, string> = {
  unchecked: 'could not be asked: try again.',
  no_prober: 'could not be asked: try again.',
  unreachable:
    'does not answer. Look at its address and port, at firewalls, and whether the carrier lets in the address of this machine.',
  dns_failure: 'has a name without an address. Look how it is written.',
  tls_failure: 'makes no TLS connection. Look at its certificate, at SIP_TLS_CA_FILE, and whether it speaks TLS there.',
  credentials_rejected: 'rejects the username or password. Set them anew.',
  unreadable: 'has a password that can not be decrypted. Was ENCRYPTION_KEY changed?',
  not_granted: 'has an address that is not granted to its workspace. If it is meant: trunkline-server trunks grant.',
  not_allowed: 'has an address that is not allowed. Name it in SIP_ALLOWED_ADDRESSES if it is meant.',
};

/** A customer's SIP trunk, as the contract has it: its texts hold no control characters, its addresses no parameter but `transport`. */
export interface Trunk {
  /** UUID. */
  id: string;
  /** UUID. */
  workspaceId: string;
  /** Raised with each change: what an adapter keeps by the ID holds for one revision. */
  revision: number;
  /** A SIP URI without a user part, or a host, with or without a port. Its address is still to be judged at connect. */
  terminationUrl: string;
  transport: 'auto' | 'udp' | 'tcp' | 'tls';
  /** As `terminationUrl`. */
  outboundProxy?: string;
  username?: string;
  password?: string;
  /** The name in digest answers; `username` without it. */
  authUsername?: string;
  /** The user part of From; the number that calls without it. */
  fromUser?: string;
  fromDomain?: string;
  register: boolean;
  registerExpiresSeconds: number;
  /** Addresses and networks in CIDR form, from which calls may arrive. */
  ipAllowlist: readonly string[];
  /** Whether calls may arrive from anywhere else, from who knows the username and password. */
  inboundDigest: boolean;
  probe: 'auto' | 'options' | 'register' | 'none';
  /** Calls that may be up at once; the switchboard keeps it for calls that it places. */
  maxChannels?: number;
  /** The switchboard keeps it. */
  callsPerSecond: number;
  numberFormat: 'e164_plus' | 'e164' | 'national' | 'international_prefix';
  /** ISO 3166-1 alpha-2; there where `numberFormat` needs it. */
  country?: string;
  dialPrefix?: string;
  callerIdHeader: 'from' | 'pai' | 'ppi' | 'rpid';
  /** The best first. */
  codecs: readonly ('PCMU' | 'PCMA')[];
  /** How digits are sent to it: in the sound's packets, or by SIP INFO. */
  dtmf: 'rtp' | 'info';
  mediaEncryption: 'none' | 'preferred' | 'required';
  /** Whether keys of sound may be sent over what isn't TLS. */
  keysInClear: boolean;
  /** Names begin with `X-`. */
  headers: Readonly<Record<string, string>>;
}

/** Whether SIP goes to a trunk over TLS. `auto` is that for `sips:` and port 5061, unless the address names another transport. */
export function isOverTls({ terminationUrl, transport }: Pick<Trunk, 'terminationUrl' | 'transport'>): boolean {
  if (transport !== 'auto') return transport === 'tls';
  const [, named] = /;transport=(\w+)/i.exec(terminationUrl) ?? [];
  return named ? named.toLowerCase() === 'tls' : /^sips:|:5061$/i.test(terminationUrl);
}

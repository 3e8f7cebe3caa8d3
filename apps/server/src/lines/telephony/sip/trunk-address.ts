import { type Credentials, parseUri, type TransportName, writeUri } from '@trunkline/sip';
import type { Trunk } from '../trunk.ts';

/** Where a trunk is, as the user agent takes it. */
export interface TrunkAddress {
  host: string;
  /** Without a user part. */
  uri: string;
  transport: TransportName;
  outboundProxy?: string;
  /** In whose share of questions to the DNS it is looked up: its workspace. */
  asker: string;
}

/** `auto` is TLS for `sips:` and port 5061, what the URI says, or UDP (phone-numbers.md, "Buy or import"). */
export function trunkAddress(
  trunk: Pick<Trunk, 'workspaceId' | 'terminationUrl' | 'transport' | 'outboundProxy'>,
): TrunkAddress {
  const uri = parseUri(withScheme(trunk.terminationUrl));
  const isTls = uri.scheme === 'sips' || uri.port === 5061;
  const named = uri.parameters.get('transport')?.toLowerCase() as TransportName | undefined;
  const transport = trunk.transport === 'auto' ? (named ?? (isTls ? 'tls' : 'udp')) : trunk.transport;
  const { user: _user, headers: _headers, ...rest } = uri;
  const plain = writeUri({ ...rest, scheme: 'sip', parameters: new Map() });
  const { outboundProxy, workspaceId: asker } = trunk;
  const proxy = outboundProxy && { outboundProxy: withScheme(outboundProxy) };
  return { host: uri.host, uri: plain, transport, ...proxy, asker };
}

const withScheme = (text: string) => (/^sips?:/i.test(text) ? text : `sip:${text}`);

/** A user at a trunk, or at another domain. */
export const userAt = (user: string, { uri }: TrunkAddress, domain?: string): string =>
  domain === undefined ? uri.replace(/^sip:/, `sip:${user}@`) : `sip:${user}@${domain}`;

/** Of a trunk that has a name and a password. */
export const credentialsOf = ({
  username,
  authUsername,
  password,
}: Pick<Trunk, 'username' | 'authUsername' | 'password'>): { credentials?: Credentials } => {
  const name = authUsername ?? username;
  return password !== undefined && name !== undefined ? { credentials: { username: name, password } } : {};
};

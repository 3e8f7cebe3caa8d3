import { isIP } from 'node:net';
import type { HostGuard } from '../../foundation/outbound-http/url-fault.ts';
import type { ErrorDetail } from '../../foundation/values/service-error.ts';
import { isOverTls } from '../telephony/trunk.ts';
import type { TrunkRow } from './trunk.ts';

/** What separates lines somewhere: it could begin a header of its own. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** The faults of a text that goes into SIP messages. `path` is where it stands in the request. */
export const textFaults = (text: string | null | undefined, path: string): ErrorDetail[] =>
  text && CONTROL.test(text) ? [{ path, message: 'must hold no control characters' }] : [];

/**
 * The faults of a trunk's address that the contract's pattern lets through: a port or host that can't be, a parameter that
 * would send calls elsewhere (`maddr`, RFC 3261 section 19.1.1) or change how, and an address inside the server's network.
 * @param transport what the trunk says beside its address
 */
export function addressFaults(uri: string, path: string, guard: HostGuard, transport = 'auto'): ErrorDetail[] {
  const [address = '', ...parameters] = uri.replace(/^sips?:/, '').split(';');
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(address) ?? [];
  const faults: ErrorDetail[] = [];
  const fault = (message: string) => faults.push({ path, message });
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) fault('must have a port from 1 to 65535');
  const isHost = host.startsWith('[') ? isIP(host.slice(1, -1)) === 6 : isHostName(host);
  if (!isHost) fault('must name a host or an IP address');
  else if (!guard.isOpenHost(host)) fault('must not lead into the network of the server');
  for (const parameter of parameters) {
    const [, named] = /^transport=(udp|tcp|tls)$/i.exec(parameter) ?? [];
    if (!named) fault(`must have no parameter ${parameter.split('=')[0]}`);
    else if (transport !== 'auto' && transport !== named.toLowerCase()) fault('must not contradict the transport');
  }
  return faults;
}

/** The faults of a trunk whose keys of sound would be sent in clear, though nobody has said that they may. */
export function encryptionFaults(
  row: Partial<Pick<TrunkRow, 'transport' | 'media_encryption' | 'keys_in_clear'>> & Pick<TrunkRow, 'termination_url'>,
  path: string,
): ErrorDetail[] {
  const { media_encryption: encryption = 'none', keys_in_clear: isAccepted, transport = 'auto' } = row;
  if (encryption === 'none' || isAccepted || isOverTls({ terminationUrl: row.termination_url, transport })) return [];
  const message =
    'needs transport tls, since the keys are sent by SIP; or keysInClear, if the way is protected otherwise';
  return [{ path, message }];
}

const isHostName = (host: string) =>
  host.length <= 253 &&
  host
    .replace(/\.$/, '')
    .split('.')
    .every((label) => /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/.test(label));

/** The prefixes of a range, from the widest that may be let in: who lets the whole world in answers all of it. */
const WIDEST = { ipv4: [16, 32], ipv6: [32, 128] } as const;
const ALLOWLIST_FAULT = 'must be an IP address, or a CIDR range no wider than /16 (IPv6: /32)';

/** The faults of an address list: entries that are neither an IP address nor a range in CIDR form. */
export function allowlistFaults(list: readonly string[], path: string): ErrorDetail[] {
  return list.flatMap((entry, index) =>
    isAddressOrRange(entry) ? [] : [{ path: `${path}/${index}`, message: ALLOWLIST_FAULT }],
  );
}

function isAddressOrRange(entry: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  const [widest, narrowest] = version === 4 ? WIDEST.ipv4 : WIDEST.ipv6;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= widest && Number(bits) <= narrowest);
}

import { isIP } from 'node:net';
import { type ErrorDetail, ServiceError } from '../service-error.ts';

/** The faults of a trunk's address that the contract's pattern lets through. `path` is where it stands in the request. */
export function terminationFaults(url: string, path: string): ErrorDetail[] {
  const address = url.replace(/^sips?:/, '').replace(/;.*$/, '');
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(address) ?? [];
  const faults: ErrorDetail[] = [];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) {
    faults.push({ path, message: 'must have a port from 1 to 65535' });
  }
  const isHost = host.startsWith('[') ? isIP(host.slice(1, -1)) === 6 : isHostName(host);
  if (!isHost) faults.push({ path, message: 'must name a host or an IP address' });
  return faults;
}

const isHostName = (host: string) =>
  host.length <= 253 &&
  host
    .replace(/\.$/, '')
    .split('.')
    .every((label) => /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/.test(label));

/** The faults of an address list: entries that are neither an IP address nor a range in CIDR form. */
export function allowlistFaults(list: readonly string[], path: string): ErrorDetail[] {
  return list.flatMap((entry, index) =>
    isAddressOrRange(entry) ? [] : [{ path: `${path}/${index}`, message: 'must be an IP address or a CIDR range' }],
  );
}

function isAddressOrRange(entry: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Throws `invalid_request` with every fault, if there are any. */
export function refuse(faults: ErrorDetail[]): void {
  if (faults.length === 0) return;
  const text = faults.map(({ path, message }) => `${path.slice(1)} ${message}`).join('; ');
  throw new ServiceError('invalid_request', text.slice(0, 2048), { details: faults.slice(0, 100) });
}

import { isIP } from 'node:net';
import type { Random } from './random.ts';
import type { Resolver, SrvRecord } from './resolver.ts';
import { defaultPort, type Target, TransportError, type TransportName } from './transport.ts';
import { bareHost, parseUri, type SipUri } from './uri.ts';

const MAX_TARGETS = 16;
const srvPrefix: Record<TransportName, string> = { udp: '_sip._udp.', tcp: '_sip._tcp.', tls: '_sips._tcp.' };

/**
 * Where a URI leads, in the order in which to try (RFC 3263 section 4, without NAPTR): a port or an address as it stands
 * there, else SRV records by priority and weight, else all A and AAAA records. `maddr` and its like are not followed.
 *
 * @param transport overrides the URI's `transport`; UDP where neither says
 * @throws TransportError `dns` where the name has no address, the DNS gives no answer, or it could not be asked in time
 */
export async function locate(
  to: SipUri | string,
  transport: TransportName | undefined,
  resolver: Resolver,
  random: Random,
): Promise<Target[]> {
  const uri = typeof to === 'string' ? parseUri(to) : to;
  const chosen = transport ?? transportOf(uri);
  const host = bareHost(uri.host);
  if (host === '') throw new TransportError('dns', 'The URI names no host.');
  if (isIP(host) !== 0) return [targetAt(host, uri.port ?? defaultPort(chosen), chosen, host)];
  return locateName(host, uri.port, chosen, resolver, random);
}

const targetAt = (address: string, port: number, transport: TransportName, host: string): Target =>
  transport === 'tls' ? { transport, address, port, serverName: host } : { transport, address, port };

async function locateName(
  host: string,
  named: number | undefined,
  transport: TransportName,
  resolver: Resolver,
  random: Random,
): Promise<Target[]> {
  try {
    const places = named === undefined ? await servers(srvPrefix[transport] + host, resolver, random) : [];
    if (places.length === 0) places.push({ name: host, port: named ?? defaultPort(transport) });
    const targets: Target[] = [];
    for (const { name, port } of places) {
      for (const address of await addressesOf(name, resolver)) targets.push(targetAt(address, port, transport, host));
      if (targets.length >= MAX_TARGETS) break;
    }
    if (targets.length > 0) return targets.slice(0, MAX_TARGETS);
  } catch (error) {
    if (error instanceof TransportError) throw new TransportError(error.code, `${host}: ${error.message}`);
    throw new TransportError(
      'dns',
      `${host}: the DNS gives no answer (${(error as NodeJS.ErrnoException).code ?? error}).`,
    );
  }
  throw new TransportError('dns', `${host} has no address.`);
}

/** The transport that a URI asks for (RFC 3263 section 4.1); `sips` is TLS. */
export function transportOf(uri: SipUri): TransportName {
  if (uri.scheme === 'sips') return 'tls';
  const named = uri.parameters.get('transport')?.toLowerCase();
  return named === 'tcp' || named === 'tls' ? named : 'udp';
}

async function servers(name: string, resolver: Resolver, random: Random): Promise<{ name: string; port: number }[]> {
  const { records } = await resolver.srv(name);
  // A single "." says that there is no such service (RFC 2782).
  return inOrder(
    records.filter((record) => record.name !== '' && record.name !== '.'),
    random,
  );
}

/** By priority, and within one by chance in proportion to the weights (RFC 2782). Of many, the first are all that is tried. */
export function inOrder(records: SrvRecord[], random: Random): SrvRecord[] {
  const ordered: SrvRecord[] = [];
  const waiting = records.toSorted((a, b) => a.priority - b.priority || a.weight - b.weight);
  while (waiting.length > 0 && ordered.length < MAX_TARGETS) {
    const first = waiting.filter(({ priority }) => priority === waiting[0]!.priority);
    let chance = Math.floor(random.number() * (first.reduce((sum, { weight }) => sum + weight, 0) + 1));
    const chosen = first.find(({ weight }) => {
      chance -= weight;
      return chance <= 0;
    })!;
    ordered.push(...waiting.splice(waiting.indexOf(chosen), 1));
  }
  return ordered;
}

/** IPv4 first: few carriers take calls over IPv6. */
async function addressesOf(name: string, resolver: Resolver): Promise<string[]> {
  const [four, six] = await Promise.allSettled([resolver.addresses(name, 4), resolver.addresses(name, 6)]);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  return [four, six].flatMap((each) => (each.status === 'fulfilled' ? each.value.records : []));
}

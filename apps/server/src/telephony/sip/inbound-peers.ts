import { setTimeout as sleep } from 'node:timers/promises';
import { parseNameAddr, parseNetworks, parseUri, type SipRequest, type Target } from '@trunkline/sip';
import type { Logger } from 'pino';
import { every, type Repeating } from '../../jobs/every.ts';
import type { Trunk } from '../gateway.ts';
import { readNumber } from './dialled-number.ts';
import type { TrunkAddress } from './trunk-address.ts';
import { trunkAddress } from './trunk-address.ts';

/** A trunk as far as calls that arrive over it are concerned. */
export type InboundTrunk = Pick<
  Trunk,
  'id' | 'terminationUrl' | 'transport' | 'outboundProxy' | 'ipAllowlist' | 'country'
>;

/** What is known of trunks and numbers of all workspaces. */
export interface InboundDirectory {
  trunks(): Promise<InboundTrunk[]>;
  /** The one of these numbers that is active and calls over one of these trunks. */
  numberOf(numbers: readonly string[], trunkIds: readonly string[]): Promise<string | undefined>;
}

interface Peer {
  trunk: InboundTrunk;
  has(address: string): boolean;
}

/** Who may call us: the peers of trunks, by their addresses. Nobody else gets a packet. */
export interface InboundPeers extends Repeating {
  knows(address: string): boolean;
  /** The number that a call is to, in E.164, and who calls, where he says it; undefined where it is no number of the peer's trunks. */
  read(request: SipRequest, source: Target): Promise<{ to: string; from?: string } | undefined>;
}

const LOOK_MS = 5000;
const LOOKUP_MS = 2000;
const MOST_STRANGERS = 10_000;

/** Begins to learn who may call us. */
export function watchInboundPeers(options: {
  directory: InboundDirectory;
  locate: (address: TrunkAddress) => Promise<Target[]>;
  /** Whether a trunk is registered with at that address. */
  isRegisteredAt: (trunkId: string, address: string) => boolean;
  log: Logger;
}): InboundPeers {
  const { directory, locate, isRegisteredAt, log } = options;
  let peers: Peer[] = [];
  /** Addresses that are nobody's, until the next look: a flood of packets must not walk every trunk's list. */
  const strangers = new Set<string>();
  /** What the names of trunks led to last, by the trunk's ID. */
  const known = new Map<string, string[]>();
  const look = every(
    LOOK_MS,
    async () => {
      const trunks = await directory.trunks();
      peers = await Promise.all(trunks.map(async (trunk) => peerOf(trunk, await addressesOf(trunk))));
      strangers.clear();
      for (const id of known.keys()) if (!trunks.some((trunk) => trunk.id === id)) known.delete(id);
    },
    { name: 'inbound trunks', log },
  );

  async function addressesOf(trunk: InboundTrunk): Promise<string[]> {
    const asked = Promise.resolve()
      .then(() => locate(trunkAddress(trunk)))
      .then((targets) =>
        known.set(
          trunk.id,
          targets.map((target) => target.address),
        ),
      );
    // A name that leads nowhere now, or answers slowly, must neither hold up the others nor shut its trunk out.
    await Promise.race([asked.catch(() => {}), sleep(LOOKUP_MS)]);
    return known.get(trunk.id) ?? [];
  }

  function peerOf(trunk: InboundTrunk, resolved: string[]): Peer {
    const networks = parseNetworks([...trunk.ipAllowlist, ...resolved]);
    return { trunk, has: (address) => networks.has(address) || isRegisteredAt(trunk.id, address) };
  }

  return {
    ...look,
    knows: (address) => {
      if (strangers.has(address)) return false;
      const isKnown = peers.some((peer) => peer.has(address));
      if (!isKnown && strangers.size < MOST_STRANGERS) strangers.add(address);
      return isKnown;
    },
    async read(request, source) {
      const from = peers.filter((peer) => peer.has(source.address)).map(({ trunk }) => trunk);
      const called = calledUsers(request);
      const numbers = called.flatMap((user) => from.flatMap(({ country }) => readNumber(user, country)));
      const trunkIds = from.map(({ id }) => id);
      for (const number of [...new Set(numbers)]) {
        const to = await directory.numberOf([number], trunkIds);
        if (to === undefined) continue;
        const [caller] = readNumber(callerUser(request), from[0]!.country);
        return { to, ...(caller !== undefined && { from: caller }) };
      }
      return undefined;
    },
  };
}

/** Where the number that is called may stand: the Request-URI, else To, P-Called-Party-ID, Diversion. */
function calledUsers(request: SipRequest): string[] {
  const headers = ['to', 'p-called-party-id', 'diversion'].flatMap((name) => request.headers.all(name));
  return [userOf(request.uri), ...headers.map((header) => userOfHeader(header))].filter((user) => user !== undefined);
}

/** A caller that withholds the number says so by the host of From, or by Privacy (RFC 3323, RFC 3325). */
function callerUser(request: SipRequest): string | undefined {
  const from = request.headers.get('from') ?? '';
  if (/anonymous/i.test(from) || request.headers.tokens('privacy').includes('id')) return undefined;
  const asserted = request.headers.get('p-asserted-identity');
  return (asserted !== undefined && userOfHeader(asserted)) || userOfHeader(from);
}

const userOfHeader = (value: string): string | undefined => {
  try {
    return userOf(parseNameAddr(value).uri);
  } catch {
    return undefined;
  }
};

function userOf(uri: string): string | undefined {
  try {
    return decodeURIComponent(parseUri(uri).user ?? '') || undefined;
  } catch {
    return undefined;
  }
}

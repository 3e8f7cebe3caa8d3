import { setTimeout as sleep } from 'node:timers/promises';
import { type Admission, parseNetworks, type SipRequest, type Target, TransportError, toTagOf } from '@trunkline/sip';
import type { Logger } from 'pino';
import { every, type Repeating } from '../../../platform/jobs/every.ts';
import type { Trunk } from '../trunk.ts';
import { challengeLimit } from './challenge-limit.ts';
import { bareUser, isDialled, readCaller, readNumber, spellingsOf } from './dialled-number.ts';
import type { TrunkKey } from './registrar.ts';
import { type SaidOfCaller, saidOfCaller } from './said-of-caller.ts';
import { credentialsOf, type TrunkAddress, trunkAddress } from './trunk-address.ts';
import { askedUsers, calledUsers, callerUser } from './users-in-request.ts';

/** A trunk as far as calls that arrive over it are concerned. */
export type InboundTrunk = Partial<Pick<Trunk, 'dtmf'>> &
  Pick<
    Trunk,
    | ('id' | 'terminationUrl' | 'transport' | 'outboundProxy' | 'ipAllowlist' | 'country')
    | ('mediaEncryption' | 'keysInClear')
  > & {
    workspaceId: string;
    /** Names of headers that the agent is told. */
    headersToAgent: readonly string[];
    /** Its numbers, in E.164, that whoever knows its name and password may call from elsewhere; none without digest. */
    digestNumbers: readonly string[];
    /** That name. */
    digestUsername?: string | undefined;
    /** Its numbers that may be written as one of those is: a caller from its address means these. */
    alikeNumbers: readonly string[];
  };

/** What is known of trunks and numbers of all workspaces. */
export interface InboundDirectory {
  trunks(): Promise<InboundTrunk[]>;
  /** A trunk as it is now, with its password; undefined where there is none, or none that can be read. */
  trunk(key: TrunkKey): Promise<Trunk | undefined>;
  /** Those of these numbers that are active and call over one of these trunks, the first that were there first. */
  numbersOf(numbers: readonly string[], trunkIds: readonly string[]): Promise<OwnedNumber[]>;
}

/** A number, in E.164, and whose it is. */
export interface OwnedNumber {
  number: string;
  workspaceId: string;
  /** The trunk that it calls over. */
  trunkId: string;
  /** Whether it is on a trunk where callers of several workspaces may come from: one workspace at most has it so. */
  shared?: boolean;
}

interface Peer {
  trunk: InboundTrunk;
  /** Whether an address is one of those that it names. */
  has(address: string): boolean;
}

/**
 * Who may call us: the peers of trunks, by their addresses, and from elsewhere who calls a number of a trunk with digest and
 * knows its password. Nobody else gets a packet.
 */
export interface InboundPeers extends Repeating {
  knows(address: string): boolean;
  admit(request: SipRequest, source: Target): Admission;
  /** The password of a user who calls a number from elsewhere. */
  passwordOf(username: string, request: SipRequest, source: Target): Promise<string | undefined>;
  /** Whether such a call may be answered now. @param isTry it answers a challenge that its source was sent */
  allows(request: SipRequest, source: Target, isTry: boolean): boolean;
  /**
   * The number that a call is to, in E.164, whose it is, who calls, where he says it, what else is said of him, and from where its
   * owner's trunks there say that they call, and whether its trunk wants sound encrypted; undefined where it is no number of the peer's trunks.
   * @param username of a caller who knows the password of the trunk that has the number
   */
  read(request: SipRequest, source: Target, username: string | undefined): Promise<Arrival | undefined>;
}

/** A call to a number of a peer's trunk. */
export interface Arrival extends Pick<Trunk, 'dtmf' | 'mediaEncryption' | 'keysInClear'> {
  to: string;
  workspaceId: string;
  from?: string;
  said?: SaidOfCaller;
  networks: string[];
}

/**
 * Finds the peers whose number is called. Countries may write different numbers alike: the surest comes first, of equals the
 * oldest trunk, so that a new one takes no calls from it.
 */
type FindPeers = (request: SipRequest, isKnown: boolean) => Peer[];

/**
 * Reads numbers of peers once, and not again each few seconds, so that it takes nothing to look one up.
 * @param numbersOf those of a trunk that are looked for
 */
function spelledNumbers(numbersOf: (trunk: InboundTrunk) => readonly string[]): (peers: readonly Peer[]) => FindPeers {
  let known = new Map<string, string[]>();
  return (peers) => {
    const before = known;
    known = new Map();
    const spelled: [rank: number, spelling: string, peer: Peer][] = [];
    for (const peer of peers)
      for (const number of numbersOf(peer.trunk)) {
        const { country } = peer.trunk;
        const key = `${number} ${country}`;
        const spellings = before.get(key) ?? spellingsOf(number, country);
        known.set(key, spellings);
        for (const [rank, spelling] of spellings.entries()) spelled.push([rank, spelling, peer]);
      }
    // What is a number in full is not taken for one that another country writes so.
    spelled.sort(([a, , one], [b, , other]) => a - b || (one.trunk.id < other.trunk.id ? -1 : 1));
    const byUser = new Map<string, Peer[]>();
    for (const [, spelling, peer] of spelled) {
      const same = byUser.get(spelling);
      if (same) same.push(peer);
      else byUser.set(spelling, [peer]);
    }
    return (request, isKnown) => {
      if (byUser.size === 0) return [];
      const users = askedUsers(request).map(bareUser);
      // A carrier rewrites the Request-URI and leaves To as it was dialled, which may be anybody's number.
      const asked = isKnown && isDialled(users[0] ?? '') ? users.slice(0, 1) : users;
      return [...new Set(asked.flatMap((user) => byUser.get(user) ?? []))];
    };
  };
}

async function passwordOfTrunk(
  directory: InboundDirectory,
  { workspaceId, id }: InboundTrunk,
  username: string,
): Promise<string | undefined> {
  const trunk = await directory.trunk({ workspaceId, trunkId: id });
  const credentials = trunk?.inboundDigest ? credentialsOf(trunk).credentials : undefined;
  return credentials?.username === username ? credentials.password : undefined;
}

/** The password of that name on the first of some trunks; none where it is another workspace's too: nobody knows whose caller it is. */
async function passwordOn(
  directory: InboundDirectory,
  trunks: readonly InboundTrunk[],
  username: string,
): Promise<string | undefined> {
  const [first] = trunks;
  const asked = trunks.filter((trunk) => trunk === first || trunk.workspaceId !== first!.workspaceId);
  const [password, ...others] = await Promise.all(asked.map((trunk) => passwordOfTrunk(directory, trunk, username)));
  return others.includes(password) ? undefined : password;
}

/** The number that a user part names on some trunks; none where those of several workspaces read it as theirs. */
async function calledOn(
  directory: InboundDirectory,
  trunks: readonly InboundTrunk[],
  user: string,
): Promise<OwnedNumber | undefined> {
  const readings = new Map(
    [...new Set(trunks.map(({ country }) => country))].map((country) => [country, readNumber(user, country)]),
  );
  const numbers = [...new Set([...readings.values()].flat())];
  if (numbers.length === 0) return undefined;
  const isTheirs = ({ number, workspaceId }: OwnedNumber) =>
    trunks.some((trunk) => trunk.workspaceId === workspaceId && readings.get(trunk.country)!.includes(number));
  const ids = trunks.map(({ id }) => id);
  const owned = (await directory.numbersOf(numbers, ids)).filter(isTheirs);
  // Who has just moved a trunk from here, or was here until now, takes no callers by a number that it gave it since.
  const found = numbers.flatMap((number) => {
    const owners = owned.filter((each) => each.number === number);
    return owners.find(({ shared }) => shared) ?? owners[0] ?? [];
  });
  const inFull = found.find(({ number }) => number === `+${bareUser(user).replace('+', '')}`);
  const isAmbiguous = new Set(found.map(({ workspaceId }) => workspaceId)).size > 1;
  if (isAmbiguous) return inFull;
  return found[0];
}

/** The country that a workspace's trunks at one peer say; none where they differ. */
function countryOf(trunks: readonly InboundTrunk[]): string | undefined {
  const countries = new Set(trunks.map(({ country }) => country));
  return countries.size === 1 ? trunks[0]!.country : undefined;
}

/** To which number on some trunks a call is, and what it says of who calls. */
async function arrivedOn(
  directory: InboundDirectory,
  from: readonly InboundTrunk[],
  request: SipRequest,
): ReturnType<InboundPeers['read']> {
  for (const user of new Set(calledUsers(request))) {
    const called = await calledOn(directory, from, user);
    if (!called) continue;
    const { number: to, workspaceId, trunkId } = called;
    const theirs = from.filter((trunk) => trunk.workspaceId === workspaceId);
    const caller = readCaller(callerUser(request), countryOf(theirs), to);
    const names = theirs.flatMap(({ headersToAgent }) => headersToAgent);
    const said = saidOfCaller(request, names);
    const networks = [...new Set(theirs.flatMap(({ ipAllowlist }) => ipAllowlist))];
    const dtmf = theirs.every((trunk) => trunk.dtmf === 'info') ? 'info' : 'rtp';
    const { mediaEncryption, keysInClear } = theirs.find(({ id }) => id === trunkId) ?? theirs[0]!;
    const sound = { networks, dtmf, mediaEncryption, keysInClear } as const;
    return { to, workspaceId, ...sound, ...(caller !== undefined && { from: caller }), ...(said && { said }) };
  }
  return undefined;
}

const LOOK_MS = 5000;
const LOOKUP_MS = 2000;
const MOST_SOURCES = 10_000;

/** Finds the peers that name an address. It is remembered, for packets must not walk every trunk's list. */
function peersByAddress(peers: readonly Peer[]): (address: string) => readonly Peer[] {
  const known = new Map<string, readonly Peer[]>();
  return (address) => {
    const found = known.get(address) ?? peers.filter((peer) => peer.has(address));
    if (known.size < MOST_SOURCES) known.set(address, found);
    return found;
  };
}

/** Begins to learn who may call us. */
export function watchInboundPeers(options: {
  directory: InboundDirectory;
  locate: (address: TrunkAddress) => Promise<Target[]>;
  /** The IDs of the trunks that are registered with at an address. */
  registeredAt: (address: string) => ReadonlySet<string>;
  log: Logger;
}): InboundPeers {
  const { directory, locate, registeredAt, log } = options;
  let byId = new Map<string, Peer>();
  let peersThatName = peersByAddress([]);
  const readDigestNumbers = spelledNumbers(({ digestNumbers }) => digestNumbers);
  let findDigestPeers = readDigestNumbers([]);
  const readAlikeNumbers = spelledNumbers(({ alikeNumbers }) => alikeNumbers);
  let findAlikePeers = readAlikeNumbers([]);
  const challenges = challengeLimit();
  /** What the names of trunks led to last, by the trunk's ID. */
  const known = new Map<string, string[]>();
  const look = every(
    LOOK_MS,
    async () => {
      const trunks = await directory.trunks();
      const peers = await Promise.all(trunks.map(async (trunk) => peerOf(trunk, await addressesOf(trunk))));
      byId = new Map(peers.map((peer) => [peer.trunk.id, peer]));
      findDigestPeers = readDigestNumbers(peers);
      findAlikePeers = readAlikeNumbers(peers);
      peersThatName = peersByAddress(peers);
      for (const id of known.keys()) if (!byId.has(id)) known.delete(id);
    },
    { name: 'inbound trunks', log },
  );

  async function addressesOf(trunk: InboundTrunk): Promise<string[]> {
    const ask = async () => {
      const targets = await locate(trunkAddress(trunk));
      known.set(
        trunk.id,
        targets.map(({ address }) => address),
      );
    };
    // A name that leads nowhere now, or answers slowly, must neither hold up the others nor shut its trunk out.
    const forget = (error: unknown) => {
      if (error instanceof TransportError && error.code === 'not_granted') known.delete(trunk.id);
    };
    await Promise.race([ask().catch(forget), sleep(LOOKUP_MS)]);
    return known.get(trunk.id) ?? [];
  }

  function peerOf(trunk: InboundTrunk, resolved: string[]): Peer {
    const networks = parseNetworks([...trunk.ipAllowlist, ...resolved]);
    return { trunk, has: networks.has };
  }

  const knows = (address: string) => registeredAt(address).size > 0 || peersThatName(address).length > 0;
  const peersAt = (address: string) => {
    const registered = [...registeredAt(address)].flatMap((id) => byId.get(id) ?? []);
    return [...new Set([...peersThatName(address), ...registered])];
  };
  const isOf = ({ trunk, has }: Peer, address: string) => has(address) || registeredAt(address).has(trunk.id);

  const digestPeersOf = (request: SipRequest, { address }: Target) => findDigestPeers(request, knows(address));
  /** Of the trunks whose number may be meant, those that such a caller can be of. */
  const trunksOf = (username: string, request: SipRequest, source: Target) =>
    digestPeersOf(request, source).flatMap(({ trunk }) => (trunk.digestUsername === username ? trunk : []));

  return {
    ...look,
    knows,
    admit(request, source) {
      const { address } = source;
      if (request.method === 'INVITE' && toTagOf(request) === undefined) {
        const asked = digestPeersOf(request, source);
        const isOwn = (peer: Peer) => isOf(peer, address);
        // Whose address it is, is asked first: nobody can have the callers of another trunk challenged by a number of his.
        if (asked.length > 0 && !asked.some(isOwn) && !findAlikePeers(request, knows(address)).some(isOwn))
          return 'challenge';
      }
      return knows(address) ? 'accept' : 'ignore';
    },
    allows(request, source, isTry) {
      const [peer] = digestPeersOf(request, source);
      return peer !== undefined && challenges.allows(peer.trunk.id, source.address, isTry);
    },
    async passwordOf(username, request, source) {
      const named = trunksOf(username, request, source);
      // It must take as long where nobody has that name.
      const trunks = named.length > 0 ? named : digestPeersOf(request, source).map(({ trunk }) => trunk);
      return passwordOn(directory, trunks, username);
    },
    async read(request, source, username) {
      const [proven] = username === undefined ? [] : trunksOf(username, request, source);
      if (username !== undefined && !proven) return undefined;
      if (proven) challenges.prove(proven.id, source.address);
      const from = proven ? [proven] : peersAt(source.address).map(({ trunk }) => trunk);
      return arrivedOn(directory, from, request);
    },
  };
}

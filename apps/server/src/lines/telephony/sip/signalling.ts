import {
  type Addressing,
  createAddressing,
  createUserAgent,
  type IncomingCall,
  isPrivateAddress,
  parseUri,
  type Target,
  type TlsOptions,
  type UserAgent,
  type UserAgentOptions,
} from '@trunkline/sip';
import type { Logger } from 'pino';
import type { HostGuard } from '../../../foundation/outbound-http/url-fault.ts';
import type { CallMessages } from './call-messages.ts';
import { type GrantedAddresses, grantTargets } from './grant-targets.ts';
import { type InboundDirectory, type InboundPeers, watchInboundPeers } from './inbound-peers.ts';
import { createNumberLookups, type NumberLookups } from './number-lookups.ts';
import { type RegisteredTrunks, type Registrar, startRegistrar } from './registrar.ts';
import type { TrunkAddress } from './trunk-address.ts';

/** Where the server speaks SIP. */
export interface SipSettings {
  host: string;
  port: number;
  tls: TlsOptions;
  /** Of a NAT in front of the server. */
  publicAddress?: string;
  /** Networks whose peers reach the server without that NAT. */
  localNetworks: readonly string[];
  /** Workspaces with an address of their own: all of theirs leaves from it, and who calls there calls them. */
  ofWorkspaces?: readonly { workspaceId: string; host: string; port: number }[];
  /** How long calls that are up may go on when the server stops. */
  drainSeconds: number;
  /** How often targets of trunks are asked by OPTIONS. */
  optionsSeconds: number;
}

/** With whom SIP is spoken. */
export interface SignallingOptions {
  settings: SipSettings;
  log: Logger;
  /** Judges where trunks may be. */
  trunkGuard: HostGuard;
  /** How names of trunks are looked up, each workspace in its share. */
  trunkNames: Pick<UserAgentOptions, 'resolver' | 'turns'>;
  granted: GrantedAddresses;
  inbound: InboundDirectory;
  registered: RegisteredTrunks;
  /** For how long trunks are taken to register with. */
  leaseSeconds: number;
  serverId: () => string;
}

/** Of challenges to callers. It tells nobody whose server this is. */
const REALM = 'sip';

/** An address of ours: its user agent, and who may call there. */
interface Door {
  userAgent: UserAgent;
  peers?: InboundPeers;
  lookups?: NumberLookups;
}

/** SIP of this process: its user agents, the trunks that it registers with, and those that may call. */
export class Signalling {
  readonly #options: SignallingOptions;
  readonly #addressing: Addressing;
  /** Addresses of trunks whose names the settings allow. */
  readonly #named = new Set<string>();
  /** That of all workspaces, and those of some alone by their UUIDs; empty before the start and after the stop. */
  readonly #doors = new Map<string | undefined, Door>();
  #registrar: Registrar | undefined;

  constructor(options: SignallingOptions, addressing: Addressing) {
    this.#options = options;
    this.#addressing = addressing;
  }

  /** Of a workspace. None before the start and after the stop. */
  agentOf(workspaceId: string | undefined): UserAgent | undefined {
    return (this.#doors.get(workspaceId) ?? this.#doors.get(undefined))?.userAgent;
  }

  /** Whether an address is that of a trunk. */
  knows(address: string): boolean {
    return this.#doors.get(undefined)?.peers?.knows(address) === true;
  }

  async start(
    onInvite: (incoming: IncomingCall, lookups: NumberLookups) => Promise<void>,
    onMessage: CallMessages['onMessage'],
  ): Promise<void> {
    const { host, port, tls, publicAddress, ofWorkspaces = [] } = this.#options.settings;
    const seenAs = publicAddress !== undefined && { publicAddress };
    await this.#open(undefined, { host, port, tls, ...seenAs, onMessage }, onInvite);
    const { port: _port, ...outOnly } = tls;
    for (const { workspaceId, ...own } of ofWorkspaces) {
      const behind = isPrivateAddress(own.host) && seenAs;
      await this.#open(workspaceId, { ...own, tls: outOnly, ...behind, onMessage }, onInvite);
    }
    this.#watchTrunks();
  }

  /** @param workspaceId of whom alone that address is */
  async #open(
    workspaceId: string | undefined,
    at: UserAgentOptions,
    onInvite: (incoming: IncomingCall, lookups: NumberLookups) => Promise<void>,
  ): Promise<void> {
    const { settings, trunkGuard, trunkNames, granted, log } = this.#options;
    const door = () => this.#doors.get(workspaceId);
    const userAgent = await createUserAgent({
      ...at,
      localNetworks: settings.localNetworks,
      ...trunkNames,
      grant: grantTargets(granted),
      mayConnect: (address) => this.#named.has(address) || trunkGuard.isOpenHost(address),
      isKnown: (address) => door()?.peers?.knows(address) === true,
      admit: (request, source) => door()?.peers?.admit(request, source) ?? 'ignore',
      authentication: {
        realm: REALM,
        passwordOf: async (...asked) => door()?.peers?.passwordOf(...asked),
        allows: (...asked) => door()?.peers?.allows(...asked) ?? false,
      },
      onInvite: (incoming) =>
        void onInvite(incoming, door()!.lookups!).catch((error) => {
          log.error({ err: error }, 'a call that arrived could not be taken');
          incoming.reject(500);
        }),
      onError: (error) => log.error({ err: error }, 'SIP signalling failed'),
    }).catch(async (cause: Error) => {
      await this.stop();
      const see = workspaceId === undefined ? 'SIP_HOST, SIP_PORT and SIP_TLS_PORT' : 'SIP_WORKSPACE_ADDRESSES';
      throw new Error(`SIP can not be opened: see ${see} (${cause.message}).`, { cause });
    });
    this.#doors.set(workspaceId, { userAgent });
  }

  #watchTrunks(): void {
    const { inbound, registered, leaseSeconds, serverId, log } = this.#options;
    const locate = (address: TrunkAddress) => this.locate(address);
    this.#registrar = startRegistrar({
      trunks: registered,
      leaseSeconds,
      locate,
      log,
      serverId,
      register: (options) => this.agentOf(options.asker)!.register(options),
    });
    for (const [workspaceId, door] of this.#doors) {
      const theirs = async () => (await inbound.trunks()).filter((trunk) => trunk.workspaceId === workspaceId);
      const directory = workspaceId === undefined ? inbound : { ...inbound, trunks: theirs };
      door.peers = watchInboundPeers({ directory, locate, registeredAt: this.#registrar.at, log });
      door.lookups = createNumberLookups(door.peers.read);
    }
  }

  /** Where a trunk is. What the settings allow by its name may be connected to from now on. */
  async locate({ host, uri, transport, outboundProxy, asker }: TrunkAddress): Promise<Target[]> {
    const userAgent = this.agentOf(asker);
    if (!userAgent) return [];
    const targets = await userAgent.locate(outboundProxy ?? uri, transport, asker);
    const asked = outboundProxy === undefined ? host : parseUri(outboundProxy).host;
    if (this.#options.trunkGuard.isAllowedHost(asked)) for (const { address } of targets) this.#named.add(address);
    return targets;
  }

  /** Our address as a peer sees it, for sound. */
  addressFor(peer: string): string {
    return this.#addressing.hostFor(peer).replace(/^\[|\]$/g, '');
  }

  /** Another server takes the calls that arrive from now on. */
  async unregister(): Promise<void> {
    await this.#registrar?.close();
  }

  /** Hangs up all calls, and closes. */
  async stop(): Promise<void> {
    const doors = [...this.#doors.values()];
    this.#doors.clear();
    await Promise.all(doors.map(({ peers }) => peers?.close()));
    await this.unregister();
    await Promise.all(doors.map(({ userAgent }) => userAgent.stop()));
  }
}

/** How this process is to be reached by SIP; it listens once it is started. */
export async function openSignalling(options: SignallingOptions): Promise<Signalling> {
  const { host, publicAddress, localNetworks } = options.settings;
  return new Signalling(options, await createAddressing(host, publicAddress, localNetworks));
}

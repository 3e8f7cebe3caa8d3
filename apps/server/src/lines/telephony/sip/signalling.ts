import {
  type Addressing,
  createAddressing,
  createUserAgent,
  type IncomingCall,
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

/** SIP of this process: its user agent, the trunks that it registers with, and those that may call. */
export class Signalling {
  readonly #options: SignallingOptions;
  readonly #addressing: Addressing;
  /** Addresses of trunks whose names the settings allow. */
  readonly #named = new Set<string>();
  #userAgent: UserAgent | undefined;
  #registrar: Registrar | undefined;
  #peers: InboundPeers | undefined;
  #lookups: NumberLookups | undefined;

  constructor(options: SignallingOptions, addressing: Addressing) {
    this.#options = options;
    this.#addressing = addressing;
  }

  /** None before the start and after the stop. */
  get userAgent(): UserAgent | undefined {
    return this.#userAgent;
  }

  get peers(): InboundPeers | undefined {
    return this.#peers;
  }

  get lookups(): NumberLookups | undefined {
    return this.#lookups;
  }

  async start(
    onInvite: (incoming: IncomingCall) => Promise<void>,
    onMessage: CallMessages['onMessage'],
  ): Promise<void> {
    const { settings, trunkGuard, trunkNames, granted, log } = this.#options;
    const { host, port, tls, publicAddress, localNetworks } = settings;
    this.#userAgent = await createUserAgent({
      host,
      port,
      tls,
      localNetworks,
      ...trunkNames,
      grant: grantTargets(granted),
      ...(publicAddress !== undefined && { publicAddress }),
      mayConnect: (address) => this.#named.has(address) || trunkGuard.isOpenHost(address),
      isKnown: (address) => this.#peers?.knows(address) === true,
      admit: (request, source) => this.#peers?.admit(request, source) ?? 'ignore',
      authentication: {
        realm: REALM,
        passwordOf: async (...asked) => this.#peers?.passwordOf(...asked),
        allows: (...asked) => this.#peers?.allows(...asked) ?? false,
      },
      onInvite: (incoming) =>
        void onInvite(incoming).catch((error) => {
          log.error({ err: error }, 'a call that arrived could not be taken');
          incoming.reject(500);
        }),
      onMessage,
      onError: (error) => log.error({ err: error }, 'SIP signalling failed'),
    }).catch((cause: Error) => {
      throw new Error(`SIP can not be opened: see SIP_HOST, SIP_PORT and SIP_TLS_PORT (${cause.message}).`, { cause });
    });
    this.#watchTrunks(this.#userAgent);
  }

  #watchTrunks(userAgent: UserAgent): void {
    const { inbound, registered, leaseSeconds, serverId, log } = this.#options;
    const locate = (address: TrunkAddress) => this.locate(address);
    this.#registrar = startRegistrar({
      trunks: registered,
      leaseSeconds,
      locate,
      log,
      serverId,
      register: (options) => userAgent.register(options),
    });
    this.#peers = watchInboundPeers({ directory: inbound, locate, registeredAt: this.#registrar.at, log });
    this.#lookups = createNumberLookups(this.#peers.read);
  }

  /** Where a trunk is. What the settings allow by its name may be connected to from now on. */
  async locate({ host, uri, transport, outboundProxy, asker }: TrunkAddress): Promise<Target[]> {
    if (!this.#userAgent) return [];
    const targets = await this.#userAgent.locate(outboundProxy ?? uri, transport, asker);
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
    const userAgent = this.#userAgent;
    this.#userAgent = undefined;
    await this.#peers?.close();
    await this.unregister();
    await userAgent?.stop();
  }
}

/** How this process is to be reached by SIP; it listens once it is started. */
export async function openSignalling(options: SignallingOptions): Promise<Signalling> {
  const { host, publicAddress, localNetworks } = options.settings;
  return new Signalling(options, await createAddressing(host, publicAddress, localNetworks));
}

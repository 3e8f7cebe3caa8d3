import { BlockList, isIPv4 } from 'node:net';
import { type AudioStream, isUnspecified } from './audio-stream.ts';
import { Encryption } from './encryption.ts';
import { type Endpoint, PeerSource } from './peer-source.ts';
import type { RtcpPeer } from './rtcp-peer.ts';
import { type RtpPacket, readRtp } from './rtp.ts';
import { openRtpSockets, type RtpSockets } from './rtp-sockets.ts';

/** While the source is silent for this long, others are listened to again. */
const LISTEN_MS = 200;

/** Takes a packet that counts. @param isNew it is of another source than those before */
type OnPacket = (packet: RtpPacket, from: Endpoint, isNew: boolean, now: number) => void;

/** The wire of a call: its sockets, whose packets count, and where ours go; RTCP beside it. */
export class RtpLine {
  /** Packets of sources that may not speak, and what is no packet. */
  readonly counts = { refused: 0, malformed: 0 };
  readonly encryption = new Encryption();
  #isOpenAddress: (address: string, trusted: readonly string[]) => boolean;
  #rtcp: RtcpPeer;
  #onPacket: OnPacket;
  #sockets: RtpSockets | undefined;
  #trusted: readonly string[] = [];
  #near = new BlockList();
  #source = new PeerSource({
    isOpen: (address) => this.#isOpenAddress(address, this.#trusted),
    isNear: (address) => this.#near.check(address, familyOf(address)),
  });
  #isConnected = false;

  /** @param isOpenAddress judges the addresses that media are sent to */
  constructor(
    isOpenAddress: (address: string, trusted: readonly string[]) => boolean,
    rtcp: RtcpPeer,
    onPacket: OnPacket,
  ) {
    this.#isOpenAddress = isOpenAddress;
    this.#rtcp = rtcp;
    this.#onPacket = onPacket;
  }

  /** @throws what `bind` answers with, such as EADDRINUSE */
  async open(host: string, rtpPort: number): Promise<void> {
    this.#sockets = await openRtpSockets(
      host,
      rtpPort,
      (datagram, from) => this.#receive(datagram, from),
      (datagram, from) => {
        const report = this.encryption.openReport(datagram);
        if (report && this.#source.hearReport(from.address)) this.#rtcp.receive(report, from, performance.now());
      },
    );
  }

  /**
   * Takes where the peer says that it is. If that may not be sent to, as an address behind a NAT, it is waited for where it
   * speaks from.
   * @param trusted addresses that signalling comes from: those near them are believed at once
   * @param networks others that are: addresses, or networks in CIDR form
   */
  describe(
    { remote, direction }: AudioStream,
    trusted: readonly string[],
    networks: readonly string[],
    now: number,
  ): void {
    this.#trusted = trusted;
    this.#near = networksOf(trusted, networks);
    this.#source.expect(direction === 'sendrecv' || direction === 'recvonly', now);
    if (isUnspecified(remote.address)) return;
    const isOpen = this.#isOpenAddress(remote.address, trusted);
    if (!this.#source.describe(isOpen ? remote : undefined, now)) return;
    this.#connectTo(undefined);
    this.#rtcp.describe(isOpen ? { address: remote.rtcpAddress, port: remote.rtcpPort } : undefined);
  }

  /** The callee has answered. */
  answer(now: number): void {
    this.#source.answer(now);
  }

  /** Whether it is known where to send, and somebody may still be there. */
  takesSound(now: number): boolean {
    return this.#source.target !== undefined && this.#source.mayBeSent(now);
  }

  /** The source that is followed, `address:port`. */
  get followed(): string | undefined {
    const { followed } = this.#source;
    return followed && `${followed.address}:${followed.port}`;
  }

  #receive(datagram: Buffer, from: Endpoint): void {
    const opened = this.encryption.open(datagram);
    if (!opened) return;
    const packet = readRtp(opened);
    if (!packet) {
      this.counts.malformed += 1;
      return;
    }
    const now = performance.now();
    const heard = this.#source.hear(from, packet, now);
    if (heard === 'refused') {
      this.counts.refused += 1;
      return;
    }
    // Whom the description doesn't name must not keep out whom it does.
    if (!this.#isConnected && this.#source.followsDescribed) this.#connectTo(from);
    this.#onPacket(packet, from, heard === 'new', now);
  }

  #connectTo(source: Endpoint | undefined): void {
    this.#sockets?.connectTo(source);
    this.#isConnected = source !== undefined;
  }

  /** Listens to other sources too if the one that it follows is silent. */
  listenAround(heardAt: number, now: number): void {
    if (this.#isConnected && now - heardAt > LISTEN_MS) this.#connectTo(undefined);
  }

  send(packet: Buffer): void {
    this.#sockets?.sendRtp(this.encryption.seal(packet), this.#source.target!);
  }

  /** Sends the report that is due. */
  report(now: number): void {
    const { target } = this.#source;
    const report = target && this.#rtcp.due(now, target);
    if (report) this.#sockets?.sendRtcp(this.encryption.sealReport(report.packet), report.to);
  }

  /** The peer gets BYE. */
  close(): void {
    const bye = this.#source.target && this.#rtcp.bye();
    if (bye) this.#sockets?.sendRtcp(this.encryption.sealReport(bye.packet), bye.to);
    this.#sockets?.close();
    this.#sockets = undefined;
  }
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** The networks of addresses, what one operator has beside each other as a rule, and others. */
function networksOf(addresses: readonly string[], others: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const address of addresses) networks.addSubnet(address, isIPv4(address) ? 24 : 64, familyOf(address));
  for (const other of others) {
    const [address = '', prefix] = other.split('/');
    networks.addSubnet(address, Number(prefix ?? (isIPv4(address) ? 32 : 128)), familyOf(address));
  }
  return networks;
}

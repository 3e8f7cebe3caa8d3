import { type AudioStream, isUnspecified } from './audio-stream.ts';
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
  #isOpenAddress: (address: string, trusted: readonly string[]) => boolean;
  #rtcp: RtcpPeer;
  #onPacket: OnPacket;
  #sockets: RtpSockets | undefined;
  #trusted: readonly string[] = [];
  #source = new PeerSource((address) => this.#isOpenAddress(address, this.#trusted));
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
        if (this.#source.isKnown(from.address)) this.#rtcp.receive(datagram, from, performance.now());
      },
    );
  }

  /** Takes where the peer says that it is. */
  describe({ remote }: AudioStream, trusted: readonly string[], now: number): void {
    this.#trusted = trusted;
    if (isUnspecified(remote.address) || !this.#source.describe(remote, now)) return;
    this.#connectTo(undefined);
    this.#rtcp.describe({ address: remote.rtcpAddress, port: remote.rtcpPort });
  }

  /** Whether it is known where to send. */
  get hasTarget(): boolean {
    return this.#source.target !== undefined;
  }

  /** The source that is followed, `address:port`. */
  get followed(): string | undefined {
    const { followed } = this.#source;
    return followed && `${followed.address}:${followed.port}`;
  }

  #receive(datagram: Buffer, from: Endpoint): void {
    const packet = readRtp(datagram);
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
    if (!this.#isConnected) this.#connectTo(from);
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
    this.#sockets?.sendRtp(packet, this.#source.target!);
  }

  /** Sends the report that is due. */
  report(now: number): void {
    const { target } = this.#source;
    const report = target && this.#rtcp.due(now, target);
    if (report) this.#sockets?.sendRtcp(report.packet, report.to);
  }

  /** The peer gets BYE. */
  close(): void {
    const bye = this.#source.target && this.#rtcp.bye();
    if (bye) this.#sockets?.sendRtcp(bye.packet, bye.to);
    this.#sockets?.close();
    this.#sockets = undefined;
  }
}

import { RTP_HEADER, rtpHeaderLength } from './rtp.ts';
import { indexNear, ReplayWindow } from './srtp-index.ts';
import type { SrtpKey } from './srtp-key.ts';
import { type SrtpTransform, transformOf } from './srtp-transform.ts';

/** Why a packet was left out: it was there before, or it is none that was sent by this key. */
export type NotOpened = 'replayed' | 'undeciphered';

/** So many sources at a time speak by one key; of a further one, who began first is forgotten. */
const MAX_SOURCES = 64;
const MAX_REPORTS = 2 ** 31;

/** Encrypts what is sent by one key (RFC 3711). Its packets are of one source, and their sequence numbers rise. */
export class SrtpSender {
  #transform: SrtpTransform;
  #index: number | undefined;
  #reports = 0;

  constructor(key: SrtpKey) {
    this.#transform = transformOf(key);
  }

  /** @param packet RTP, which is left as it is */
  seal(packet: Buffer): Buffer {
    const sequence = packet.readUInt16BE(2);
    this.#index = this.#index === undefined ? sequence : indexNear(this.#index, sequence);
    return this.#transform.sealRtp(packet, rtpHeaderLength(packet)!, this.#index);
  }

  /** @param report RTCP, which is left as it is */
  sealReport(report: Buffer): Buffer {
    this.#reports = (this.#reports + 1) % MAX_REPORTS;
    return this.#transform.sealRtcp(report, this.#reports);
  }
}

/** Decrypts what a peer sends by one key. What is not authentic changes nothing. */
export class SrtpReceiver {
  #transform: SrtpTransform;
  #before: SrtpReceiver | undefined;
  /** By their SSRC. */
  #packets = new Map<number, ReplayWindow>();
  #reports = new Map<number, ReplayWindow>();

  /** @param before of the key before: the peer may send by it until it sends by this one */
  constructor(key: SrtpKey, before?: SrtpReceiver) {
    this.#transform = transformOf(key);
    this.follow(before);
  }

  /** Its key counts from now on, be it anew. @param before of the key that counted */
  follow(before: SrtpReceiver | undefined): void {
    this.#before = before;
    if (before) before.#before = undefined;
  }

  /** Opens an RTP packet, whose bytes may be those of the answer. */
  open(packet: Buffer): Buffer | NotOpened {
    const header = rtpHeaderLength(packet);
    if (header === undefined) return 'undeciphered';
    const [ssrc, sequence] = [packet.readUInt32BE(8), packet.readUInt16BE(2)];
    for (const index of this.#indices(ssrc, sequence)) {
      if (this.#packets.get(ssrc)?.isFree(index) === false) return 'replayed';
      const opened = this.#transform.openRtp(packet, header, index);
      if (!opened) continue;
      take(this.#packets, ssrc, index);
      this.#before = undefined;
      return opened;
    }
    return this.#before?.open(packet) ?? 'undeciphered';
  }

  /**
   * What index a packet may have. Of the first of a source: that of one which hasn't rolled over, or has while nothing of it
   * was heard; and after a change of keys it may go on.
   */
  #indices(ssrc: number, sequence: number): number[] {
    const known = this.#packets.get(ssrc);
    if (known) return [indexNear(known.highest, sequence)].filter((index) => index >= 0);
    const goesOn = indexNear(this.#before?.highestOf(ssrc) ?? 0, sequence);
    return [sequence, ...(sequence < 2 ** 15 ? [sequence + 2 ** 16] : []), ...(goesOn >= 2 ** 16 ? [goesOn] : [])];
  }

  /** The highest index of a source. */
  highestOf(ssrc: number): number | undefined {
    return this.#packets.get(ssrc)?.highest;
  }

  openReport(packet: Buffer): Buffer | NotOpened {
    if (packet.length < RTP_HEADER) return 'undeciphered';
    const ssrc = packet.readUInt32BE(4);
    const opened = this.#transform.openRtcp(packet);
    if (!opened) return this.#before?.openReport(packet) ?? 'undeciphered';
    if (this.#reports.get(ssrc)?.isFree(opened.index) === false) return 'replayed';
    take(this.#reports, ssrc, opened.index);
    return opened.report;
  }
}

function take(windows: Map<number, ReplayWindow>, ssrc: number, index: number): void {
  const known = windows.get(ssrc);
  if (!known && windows.size >= MAX_SOURCES) windows.delete(windows.keys().next().value!);
  if (known) known.take(index);
  else windows.set(ssrc, new ReplayWindow(index));
}

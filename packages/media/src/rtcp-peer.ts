import type { InboundAudio } from './inbound-audio.ts';
import type { OutboundAudio } from './outbound-audio.ts';
import type { Endpoint } from './peer-source.ts';
import { type LastSenderReport, readRtcp, writeBye, writeReport } from './rtcp.ts';

/** Reports are due this often (RFC 3550, 6.2). */
const REPORT_MS = 5000;
const CNAME = 'trunkline';

/** RTCP with the peer: reports each 5 s, on hold too (RFC 3264, 8.4), and what its reports say of our stream. */
export class RtcpPeer {
  /** Packets of ours that it has missed, as it says. */
  lostByPeer: number | undefined;
  #inbound: InboundAudio;
  #outbound: OutboundAudio;
  #target: Endpoint | undefined;
  #heardFrom: Endpoint | undefined;
  #last: LastSenderReport | undefined;
  #dueAt: number | undefined;

  constructor(inbound: InboundAudio, outbound: OutboundAudio) {
    this.#inbound = inbound;
    this.#outbound = outbound;
  }

  /** Where the peer's description wants reports, if they may be sent there. */
  describe(target: Endpoint | undefined): void {
    this.#target = target;
    this.#heardFrom = undefined;
  }

  /** @param from a source that is known by its RTP or its description */
  receive(datagram: Buffer, from: Endpoint, now: number): void {
    const news = readRtcp(datagram, this.#outbound.state.ssrc);
    if (!news) return;
    this.#heardFrom = from;
    if (news.lost !== undefined) this.lostByPeer = news.lost;
    if (news.senderReportNtp !== undefined) this.#last = { ntp: news.senderReportNtp, at: now };
    for (const ssrc of news.ended) this.#inbound.endStream(ssrc);
  }

  /** The report that is due, if one is. @param rtp where RTP goes to now */
  due(now: number, rtp: Endpoint): { packet: Buffer; to: Endpoint } | undefined {
    this.#dueAt ??= now + REPORT_MS;
    if (now < this.#dueAt) return undefined;
    this.#dueAt = now + REPORT_MS;
    const report = this.#inbound.reception.report();
    const packet = writeReport(this.#outbound.state, CNAME, Date.now(), now, report, this.#last);
    return { packet, to: this.#to(rtp) };
  }

  bye(): { packet: Buffer; to: Endpoint } | undefined {
    const to = this.#heardFrom ?? this.#target;
    return to && { packet: writeBye(this.#outbound.state.ssrc, CNAME), to };
  }

  /** Where it was heard from, else beside RTP: the described port, unless RTP comes from elsewhere. */
  #to(rtp: Endpoint): Endpoint {
    if (this.#heardFrom) return this.#heardFrom;
    if (this.#target?.address === rtp.address) return this.#target;
    return { address: rtp.address, port: Math.min(rtp.port + 1, 65_535) };
  }
}

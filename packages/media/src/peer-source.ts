import { ahead, type RtpPacket } from './rtp.ts';

export interface Endpoint {
  address: string;
  port: number;
}

/** Another source than the described one may speak after this long without a packet of the one before. */
const QUIET_MS = 1000;
/** While the followed port was heard within this, another port of the same address waits. */
const PORT_CHANGE_MS = 100;
/** Packets in a row that make a source steady. */
const STEADY = 5;

/**
 * Whom a call listens and speaks to: symmetric RTP (RFC 4961). It speaks to where the peer's description says until
 * something is heard, and then to where that came from: carriers and phones behind NAT describe addresses that they
 * don't send from. Nobody else speaks into the call.
 */
export class PeerSource {
  #described: Endpoint | undefined;
  #followed: Endpoint | undefined;
  /** When the followed source was heard, or the description came, in ms. */
  #lastAt = 0;
  #candidate: (Endpoint & { ssrc: number; sequence: number; packets: number }) | undefined;
  #isOpen: (address: string) => boolean;

  /** @param isOpen whether an address that no description names may be sent to */
  constructor(isOpen: (address: string) => boolean) {
    this.#isOpen = isOpen;
  }

  /** Takes a description's address; another one than before begins anew. @returns whether it is another one */
  describe({ address, port }: Endpoint, now: number): boolean {
    if (this.#described?.address === address && this.#described.port === port) return false;
    this.#described = { address, port };
    this.#followed = undefined;
    this.#candidate = undefined;
    this.#lastAt = now;
    return true;
  }

  /** Where to send; nothing before a description. */
  get target(): Endpoint | undefined {
    return this.#followed ?? this.#described;
  }

  /** The source that is followed; nothing until one was heard. */
  get followed(): Endpoint | undefined {
    return this.#followed;
  }

  /** Whether an address is one that RTCP may come from. */
  isKnown(address: string): boolean {
    return address === this.#described?.address || address === this.#followed?.address;
  }

  /**
   * Judges a packet by where it came from.
   * @returns `followed`: it may speak; `new`: it may, and is another source than before; `refused`
   */
  hear(from: Endpoint, packet: Pick<RtpPacket, 'ssrc' | 'sequence'>, now: number): 'followed' | 'new' | 'refused' {
    if (!this.#described) return 'refused';
    if (this.#followed?.port === from.port && this.#followed.address === from.address) {
      this.#lastAt = now;
      return 'followed';
    }
    if (!this.#mayFollow(from, packet, now)) return 'refused';
    this.#followed = { address: from.address, port: from.port };
    this.#candidate = undefined;
    this.#lastAt = now;
    return 'new';
  }

  #mayFollow(from: Endpoint, packet: Pick<RtpPacket, 'ssrc' | 'sequence'>, now: number): boolean {
    if (from.address === this.#described!.address) {
      const isSpeaking = this.#followed?.address === from.address && now - this.#lastAt < PORT_CHANGE_MS;
      return !isSpeaking;
    }
    if (now - this.#lastAt < QUIET_MS) {
      this.#candidate = undefined;
      return false;
    }
    return this.#isOpen(from.address) && this.#isSteady(from, packet);
  }

  #isSteady(from: Endpoint, { ssrc, sequence }: Pick<RtpPacket, 'ssrc' | 'sequence'>): boolean {
    const known = this.#candidate;
    const goesOn =
      known?.address === from.address &&
      known.port === from.port &&
      known.ssrc === ssrc &&
      Math.abs(ahead(sequence, known.sequence)) <= STEADY;
    this.#candidate = {
      address: from.address,
      port: from.port,
      ssrc,
      sequence,
      packets: goesOn ? known.packets + 1 : 1,
    };
    return this.#candidate.packets >= STEADY;
  }
}

import { ahead, type RtpPacket } from './rtp.ts';

export interface Endpoint {
  address: string;
  port: number;
}

/** A stranger may speak if nobody of the first rank was heard for this long after the answer, though they could have been. */
const STRANGER_MS = 2000;
/** While the followed source was heard within this, another one of the first rank waits. */
const CHANGE_MS = 100;
/** Packets in a row that make a source steady. */
const STEADY = 5;
/** For so long a peer is sent sound of which nothing comes. */
const LONGEST_UNHEARD_MS = 10_000;

type Rank = 'described' | 'near' | 'stranger';

/** Judges addresses that no description names. */
export interface Ranks {
  /** Whether one may be sent to. */
  isOpen(address: string): boolean;
  /** Whether one is of a network of the peer's: that which signalling comes from, or another that it is known by. */
  isNear(address: string): boolean;
}

/**
 * Whom a call listens and speaks to: symmetric RTP (RFC 4961). It speaks to where the peer's description says until
 * something is heard, and then to where that came from: carriers and phones behind NAT describe addresses that they
 * don't send from.
 *
 * The described address and those of the peer's networks are of the first rank: each takes the call with one packet from whoever
 * is silent or a stranger, and the described address from anybody. A stranger gets it only if none of these was heard, keeps it
 * until one is, and gives it to no other stranger.
 */
export class PeerSource {
  #ranks: Ranks;
  #isDescribed = false;
  /** Absent before a description, and if that names an address that may not be sent to. */
  #described: Endpoint | undefined;
  #followed: (Endpoint & { rank: Rank }) | undefined;
  /** When the followed source was heard, in ms. */
  #lastAt = 0;
  #candidate: (Endpoint & { ssrc: number; sequence: number; packets: number }) | undefined;
  #isAnswered = false;
  /** Since when the peer could have been heard: its description, its answer and the end of a hold, whichever was last. */
  #expectedSince: number | undefined;
  /** For how long it could have been before that and was not, in ms; counted from the answer, if there was one. */
  #unheardMs = 0;
  /** Whether somebody of the first rank was heard since the description. */
  #isPresent = false;
  /** Whether anything was. */
  #isHeard = false;

  constructor(ranks: Ranks) {
    this.#ranks = ranks;
  }

  /**
   * Takes a description's address, or that it names none that may be sent to; another one than before begins anew.
   * @returns whether it is another one
   */
  describe(endpoint: Endpoint | undefined, now: number): boolean {
    const before = this.#described;
    if (this.#isDescribed && before?.address === endpoint?.address && before?.port === endpoint?.port) return false;
    this.#isDescribed = true;
    this.#described = endpoint && { address: endpoint.address, port: endpoint.port };
    this.#followed = undefined;
    this.#candidate = undefined;
    this.#isPresent = false;
    this.#expectFrom(this.#expectedSince === undefined ? undefined : now, now);
    this.#isHeard = false;
    return true;
  }

  /** The callee has answered. */
  answer(now: number): void {
    this.#isAnswered = true;
    if (this.#expectedSince !== undefined) this.#expectedSince = now;
    this.#unheardMs = 0;
  }

  /** Whether the peer may send, as both have agreed. What is on hold is not expected to be heard. */
  expect(isExpected: boolean, now: number): void {
    if (isExpected) this.#expectedSince ??= now;
    else this.#expectFrom(undefined, now);
  }

  /** What was waited for in vain stays counted: else who is never heard would be sent to for good, by a new description each time. */
  #expectFrom(since: number | undefined, now: number): void {
    if (this.#isHeard) this.#unheardMs = 0;
    else if (this.#expectedSince !== undefined) this.#unheardMs += now - this.#expectedSince;
    this.#expectedSince = since;
  }

  /** Where to send; nothing before a description. */
  get target(): Endpoint | undefined {
    return this.#followed ?? this.#described;
  }

  /** Whether sound may still go there: not to somebody who was never heard, whom anybody can describe. */
  mayBeSent(now: number): boolean {
    const since = this.#expectedSince;
    return this.#isHeard || since === undefined || this.#unheardMs + now - since <= LONGEST_UNHEARD_MS;
  }

  /** The source that is followed; nothing until one was heard. */
  get followed(): Endpoint | undefined {
    return this.#followed;
  }

  /** Whether the one that is followed is the described address, from which nobody takes the call while it speaks. */
  get followsDescribed(): boolean {
    return this.#followed?.rank === 'described';
  }

  /** Takes note of RTCP. @returns whether it comes from an address that it may come from */
  hearReport(address: string): boolean {
    if (this.#rankOf(address) !== 'stranger') this.#isPresent = true;
    else if (address !== this.#followed?.address) return false;
    this.#isHeard = true;
    return true;
  }

  /**
   * Judges a packet by where it came from.
   * @returns `followed`: it may speak; `new`: it may, and is another source than before; `refused`
   */
  hear(from: Endpoint, packet: Pick<RtpPacket, 'ssrc' | 'sequence'>, now: number): 'followed' | 'new' | 'refused' {
    if (this.#followed?.port === from.port && this.#followed.address === from.address) {
      this.#lastAt = now;
      return 'followed';
    }
    const rank = this.#rankOf(from.address);
    if (!(rank === 'stranger' ? this.#mayFollow(from, packet, now) : this.#mayTake(rank, now))) return 'refused';
    this.#followed = { address: from.address, port: from.port, rank };
    this.#candidate = undefined;
    this.#lastAt = now;
    this.#isPresent ||= rank !== 'stranger';
    this.#isHeard = true;
    return 'new';
  }

  #rankOf(address: string): Rank {
    if (!this.#isDescribed) return 'stranger';
    if (address === this.#described?.address) return 'described';
    return this.#ranks.isNear(address) && this.#ranks.isOpen(address) ? 'near' : 'stranger';
  }

  /** Whether a source of the first rank is followed from now on: two of one kind don't take turns. */
  #mayTake(rank: Rank, now: number): boolean {
    const before = this.#followed;
    if (!before || before.rank === 'stranger') return true;
    return (rank === 'described' && before.rank === 'near') || now - this.#lastAt >= CHANGE_MS;
  }

  #mayFollow(from: Endpoint, packet: Pick<RtpPacket, 'ssrc' | 'sequence'>, now: number): boolean {
    const since = this.#expectedSince;
    const isAwaited = this.#isDescribed && this.#isAnswered && !this.#isPresent && !this.#followed;
    if (!isAwaited || since === undefined || now - since < STRANGER_MS) {
      this.#candidate = undefined;
      return false;
    }
    return this.#ranks.isOpen(from.address) && this.#isSteady(from, packet);
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

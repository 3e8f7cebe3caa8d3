import { isRefused } from './refused-port.ts';
import { type Target, TransportError } from './transport.ts';

/** A peer that was heard within this is there, unless something that it was sent is left without an answer. */
const THERE_MS = 1000;
/** For so long an answer to an INVITE, such as 100, may be on its way. */
const ANSWER_MS = 100;
const MOST_PEERS = 10_000;

interface Peer {
  heardAt: number;
  /** When the first INVITE left since. */
  invitedAt?: number | undefined;
}

/** Which peers were heard over UDP lately: nobody says of a datagram that none was there to take it. */
export class HeardPeers {
  /** By `address:port`; times in ms. */
  readonly #peers = new Map<string, Peer>();
  readonly #asked = new Map<string, Promise<boolean>>();

  /** Takes note of where a message came from. */
  note({ transport, address, port }: Target): void {
    if (transport === 'udp') this.#peerAt(`${address}:${port}`, performance.now());
  }

  #peerAt(key: string, heardAt: number): Peer {
    const peer = this.#peers.get(key) ?? { heardAt };
    peer.heardAt = heardAt;
    peer.invitedAt = undefined;
    if (this.#peers.size >= MOST_PEERS) this.#peers.clear();
    this.#peers.set(key, peer);
    return peer;
  }

  /**
   * Makes sure, before an INVITE goes to a target that may be gone, that its machine doesn't refuse it: to one that was
   * silent for a second, or that has let a tenth pass since another INVITE.
   * @throws TransportError `refused`
   */
  async expect(target: Target): Promise<void> {
    if (target.transport !== 'udp') return;
    const key = `${target.address}:${target.port}`;
    const now = performance.now();
    const peer = this.#peers.get(key) ?? this.#peerAt(key, now - THERE_MS);
    const isThere = now - peer.heardAt < THERE_MS && now - (peer.invitedAt ?? now) < ANSWER_MS;
    peer.invitedAt ??= now;
    if (isThere) return;
    const asked = this.#asked.get(key) ?? isRefused(target).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    if (await asked) throw new TransportError('refused', `${key} refuses UDP.`);
  }
}

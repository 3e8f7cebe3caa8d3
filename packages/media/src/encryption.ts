import { SrtpReceiver, SrtpSender } from './srtp.ts';
import { isSameKey, type SrtpKey, type SrtpKeys, type SrtpSuite } from './srtp-key.ts';

/** What the packets of a call are encrypted with, if they are. */
export class Encryption {
  /** Packets that came again, and those that are not encrypted by the peer's key. */
  readonly counts = { replayed: 0, undeciphered: 0 };
  #keys: SrtpKeys | undefined;
  #sender: SrtpSender | undefined;
  #receiver: SrtpReceiver | undefined;
  /** Of the key before: if a new one is withdrawn, it knows still what has come. */
  #former: { key: SrtpKey; receiver: SrtpReceiver } | undefined;

  get suite(): SrtpSuite | undefined {
    return this.#keys?.send.suite;
  }

  /**
   * Takes what was agreed on. Keys that stay as they are go on.
   * @returns whether what we send must be a stream of its own: a peer that is given a new key counts from its first packet
   */
  agree(keys: SrtpKeys | undefined): boolean {
    const before = this.#keys;
    this.#keys = keys;
    const isReceivedAlike = before && keys && isSameKey(before.receive, keys.receive);
    if (!isReceivedAlike) this.#receiveBy(keys?.receive, before?.receive);
    if (before && keys && isSameKey(before.send, keys.send)) return false;
    this.#sender = keys && new SrtpSender(keys.send);
    return keys !== undefined;
  }

  #receiveBy(key: SrtpKey | undefined, keyBefore: SrtpKey | undefined): void {
    const [before, former] = [this.#receiver, this.#former];
    if (keyBefore && before) this.#former = { key: keyBefore, receiver: before };
    const isBack = key && former && isSameKey(former.key, key);
    if (isBack) former.receiver.follow(before);
    this.#receiver = isBack ? former.receiver : key && new SrtpReceiver(key, before);
  }

  seal(packet: Buffer): Buffer {
    return this.#sender?.seal(packet) ?? packet;
  }

  sealReport(report: Buffer): Buffer {
    return this.#sender?.sealReport(report) ?? report;
  }

  /** @returns the packet in clear; nothing if it counts for nothing */
  open(datagram: Buffer): Buffer | undefined {
    if (!this.#receiver) return datagram;
    const opened = this.#receiver.open(datagram);
    if (typeof opened === 'object') return opened;
    this.counts[opened] += 1;
    return undefined;
  }

  openReport(datagram: Buffer): Buffer | undefined {
    if (!this.#receiver) return datagram;
    const opened = this.#receiver.openReport(datagram);
    return typeof opened === 'object' ? opened : undefined;
  }
}

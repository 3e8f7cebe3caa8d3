import { Yallist } from 'yallist';

/** Who may take how many ports: each owner its share of them. */
export interface PortShares {
  /** Takes one, if there is one for this owner. */
  take(owner: string): boolean;
  giveBack(owner: string): void;
}

/** After a call its ports rest, so that its last packets don't reach the next one. */
const REST_MS = 5000;

/** The even ports that calls take for RTP; RTCP has the one above. */
export class RtpPorts {
  /** Those that rest count for the owner of their last call. */
  #shares: PortShares;
  #free = new Yallist<number>();
  /** In the order in which they will be free. */
  #resting = new Yallist<{ port: number; owner: string; until: number }>();
  #now: () => number;

  /**
   * @param min, max the range; the port above an even one must lie in it too
   * @param shares given how many pairs of ports there are
   * @param now in ms; never set back
   */
  constructor(
    min: number,
    max: number,
    shares: (total: number) => PortShares,
    now: () => number = () => performance.now(),
  ) {
    for (let port = min + (min % 2); port < max; port += 2) this.#free.push(port);
    this.#shares = shares(this.#free.length);
    this.#now = now;
  }

  /** The port that has been free for longest; nothing if none is, or the owner has its share. */
  take(owner: string): number | undefined {
    const now = this.#now();
    while (this.#resting.head && this.#resting.head.value.until <= now) {
      const rested = this.#resting.shift()!;
      this.#free.push(rested.port);
      this.#shares.giveBack(rested.owner);
    }
    return this.#shares.take(owner) ? this.#free.shift() : undefined;
  }

  giveBack(port: number, owner: string): void {
    this.#resting.push({ port, owner, until: this.#now() + REST_MS });
  }
}

/** After a call its ports rest, so that its last packets don't reach the next one. */
const REST_MS = 5000;

/** The even ports that calls take for RTP; RTCP has the one above. */
export class RtpPorts {
  #free: number[] = [];
  /** In the order in which they will be free. */
  #resting: { port: number; until: number }[] = [];
  #now: () => number;

  /**
   * @param min, max the range; the port above an even one must lie in it too
   * @param now in ms; never set back
   */
  constructor(min: number, max: number, now: () => number = () => performance.now()) {
    for (let port = min + (min % 2); port < max; port += 2) this.#free.push(port);
    this.#now = now;
  }

  /** The port that has been free for longest; nothing where none is. */
  take(): number | undefined {
    const now = this.#now();
    while (this.#resting.length > 0 && this.#resting[0]!.until <= now) this.#free.push(this.#resting.shift()!.port);
    return this.#free.shift();
  }

  giveBack(port: number): void {
    this.#resting.push({ port, until: this.#now() + REST_MS });
  }
}

import { Yallist } from 'yallist';
import { allWhileAlone, Shares } from '../../foundation/values/limiter.ts';

/** After a call its ports rest, so that its last packets don't reach the next one. */
const REST_MS = 5000;

/** The even ports that calls take for RTP; RTCP has the one above. A workspace alone takes all, else its share. */
export class RtpPorts {
  /** What of them is taken; those that rest count for the workspace of their last call. */
  readonly shares: Shares;
  #free = new Yallist<number>();
  /** In the order in which they will be free. */
  #resting = new Yallist<{ port: number; workspaceId: string; until: number }>();
  #now: () => number;

  /**
   * @param min, max the range; the port above an even one must lie in it too
   * @param now in ms; never set back
   */
  constructor(min: number, max: number, now: () => number = () => performance.now()) {
    for (let port = min + (min % 2); port < max; port += 2) this.#free.push(port);
    this.shares = new Shares(this.#free.length, allWhileAlone);
    this.#now = now;
  }

  /** The port that has been free for longest; nothing where none is, or the workspace has its share. */
  take(workspaceId: string): number | undefined {
    const now = this.#now();
    while (this.#resting.head && this.#resting.head.value.until <= now) {
      const rested = this.#resting.shift()!;
      this.#free.push(rested.port);
      this.shares.giveBack(rested.workspaceId);
    }
    return this.shares.take(workspaceId) ? this.#free.shift() : undefined;
  }

  giveBack(port: number, workspaceId: string): void {
    this.#resting.push({ port, workspaceId, until: this.#now() + REST_MS });
  }
}

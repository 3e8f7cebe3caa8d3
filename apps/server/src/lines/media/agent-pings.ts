/** Beats from a ping's answer to the next ping. */
const EVERY = 2;
/** Beats in which a ping is answered. */
const ANSWERED_WITHIN = 5;
/** What may be under way that no answer says has arrived: three seconds, of which two are sent between pings anyhow. */
const MAX_UNDER_WAY = 150;
/** Beats after which an agent that takes nothing, though it says something, is given up. */
const BEHIND_FOR = 10;

/**
 * What is known of an agent at the other end of one connection, by WebSocket pings. The answer to a ping (RFC 6455, 5.5.3)
 * says that all that was sent before it has been read, of which neither our buffer nor the kernel's tells. Time is counted
 * in beats of a second: where our process stood still, no beat was missed.
 */
export class AgentPings {
  #sent = 0;
  /** Of what was sent, the part that it has read for sure. */
  #read = 0;
  /** The ping that waits for its answer, and what was sent before it. */
  #asked: { name: string; sent: number } | undefined;
  #names = 0;
  #beats = 0;
  #received = 0;
  #beatsBehind = 0;

  /** Whether another frame may be sent: an agent that reads too slowly misses sound, rather than hearing it late. */
  get isBehind(): boolean {
    return this.#sent - this.#read >= MAX_UNDER_WAY;
  }

  /** A frame is sent. */
  sent(): void {
    this.#sent += 1;
  }

  /** @param name what was in the ping: others are signs of life that nobody has asked for */
  answered(name: string): void {
    if (name !== this.#asked?.name) return;
    this.#read = this.#asked.sent;
    this.#asked = undefined;
    this.#beats = 0;
  }

  /**
   * To be asked at each beat.
   * @param received bytes that came from the agent so far: one that sends is alive, its answer may wait behind what it says
   * @returns the ping to send, or that the agent is to be let go
   */
  beat(received: number): { ping: string } | 'unanswered' | undefined {
    this.#beatsBehind = this.isBehind ? this.#beatsBehind + 1 : 0;
    if (this.#beatsBehind > BEHIND_FOR) return 'unanswered';
    const moves = received !== this.#received;
    this.#received = received;
    if (this.#asked && moves) this.#beats = 0;
    else this.#beats += 1;
    if (this.#asked) return this.#beats >= ANSWERED_WITHIN ? 'unanswered' : undefined;
    if (this.#beats < EVERY) return undefined;
    this.#beats = 0;
    this.#names += 1;
    this.#asked = { name: String(this.#names), sent: this.#sent };
    return { ping: this.#asked.name };
  }
}

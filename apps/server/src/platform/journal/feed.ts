import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OpenStream, StreamFrame, StreamSender } from '../../foundation/http/handler.ts';
import type { Limiter } from '../../foundation/values/limiter.ts';

/** What a look at a resource finds. */
export interface Look {
  /** For those who have seen it up to a revision, or not at all. */
  frames: ReadonlyMap<number | undefined, readonly StreamFrame[]>;
  /** The revision after which nothing more happens by itself; nothing while something may. */
  atRest: number | undefined;
  /** Whether there is more to be read at once. */
  hasMore: boolean;
}

/** What a feed tells of, and how. */
export interface FeedTerms {
  /** UUID. */
  workspaceId: string;
  /** Reads what those need who have seen so much; nothing where the resource is gone. */
  look(seen: ReadonlySet<number | undefined>): Promise<Look | undefined>;
  /** Between two looks that tell all of something, in milliseconds. */
  apartMs: number;
  /** Looks wait here. */
  slots: Limiter;
  /** How long it waits for word before it looks by itself, in milliseconds. */
  restMs(): number;
  /** Nobody follows it any more. */
  onEmpty(): void;
}

/** How many streams are written to in one turn of the event loop: some 5 ms, however many follow. */
const TOLD_AT_ONCE = 250;

/** Looks at a resource for all streams of this process that follow it: when word comes, when one joins, and now and then. */
export class Feed {
  readonly #terms: FeedTerms;
  readonly #followers = new Set<Follower>();
  /** Those that no look was for yet: they don't wait until looks are far enough apart. */
  #joined: Follower[] = [];
  #isLooking = false;
  #isDue = false;
  /** By `performance.now()`. */
  #notBefore = 0;
  /** When it looks for all at the latest, though no word comes and however many join. */
  #lookBy: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(terms: FeedTerms) {
    this.#terms = terms;
  }

  /** @param seen the revision that the client has seen last */
  join(stream: OpenStream, seen: number | undefined): StreamSender {
    const follower = new Follower(this, stream, seen);
    this.#followers.add(follower);
    this.#joined.push(follower);
    this.#plan();
    return follower;
  }

  leave(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return;
    clearTimeout(this.#timer);
    this.#terms.onEmpty();
  }

  /** Something may have happened. */
  readonly hint = (): void => {
    this.#isDue = true;
    this.#plan();
  };

  #plan(): void {
    if (this.#isLooking || this.#followers.size === 0) return;
    clearTimeout(this.#timer);
    const now = performance.now();
    this.#lookBy ??= now + this.#terms.restMs();
    if (now >= this.#lookBy) this.#isDue = true;
    const waitMs = (this.#isDue ? this.#notBefore : this.#lookBy) - now;
    if (this.#joined.length > 0 || waitMs <= 0) void this.#look();
    else this.#timer = setTimeout(this.hint, waitMs);
  }

  async #look(): Promise<void> {
    const { workspaceId, slots, look } = this.#terms;
    this.#isLooking = true;
    let followers: Follower[] = [];
    let began = 0;
    try {
      const found = await slots(workspaceId, async () => {
        began = performance.now();
        followers = this.#take(began);
        return followers.length > 0 ? look(new Set(followers.map(({ after }) => after))) : undefined;
      });
      await this.#tell(followers, found, began);
    } catch (error) {
      for (const { stream } of followers) stream.fail(error);
    }
    this.#isLooking = false;
    this.#plan();
  }

  /** Those whom a look that begins now is for. What is asked for from now on may be newer than what it reads. */
  #take(now: number): Follower[] {
    const joined = this.#joined;
    this.#joined = [];
    if (!this.#isDue || now < this.#notBefore) return joined;
    this.#isDue = false;
    this.#lookBy = undefined;
    return [...this.#followers].filter(({ isIdle }) => isIdle);
  }

  /** Until all are told no other look begins, so that each gets everything in order. */
  async #tell(followers: Follower[], found: Look | undefined, began: number): Promise<void> {
    let isNews = false;
    for (const [at, follower] of followers.entries()) {
      if (at > 0 && at % TOLD_AT_ONCE === 0) await nextTurn();
      // Who has gone meanwhile is told nothing.
      if (this.#followers.has(follower)) isNews = follower.tell(found) || isNews;
    }
    // A look for those who have joined since the last for all puts off no look for all.
    if (isNews && began >= this.#notBefore) this.#notBefore = performance.now() + this.#terms.apartMs;
    if (found?.hasMore) this.#isDue = true;
  }
}

/** A stream that follows a resource, and how far it is. */
class Follower implements StreamSender {
  readonly stream: OpenStream;
  /** The revision that it was sent last. */
  after: number | undefined;
  readonly #feed: Feed;
  readonly #seen: number | undefined;
  #hasRoom = true;
  #frames: readonly StreamFrame[] = [];
  #sent = 0;
  #atRest: number | undefined;

  constructor(feed: Feed, stream: OpenStream, seen: number | undefined) {
    this.#feed = feed;
    this.stream = stream;
    this.#seen = seen;
    this.after = seen;
  }

  /** Whether all that it was told is sent, and gone out. */
  get isIdle(): boolean {
    return this.#hasRoom && this.#sent === this.#frames.length;
  }

  /** @returns whether it was told of anything */
  tell(found: Look | undefined): boolean {
    if (!found) {
      this.stream.end();
      return false;
    }
    this.#frames = found.frames.get(this.after) ?? [];
    this.#sent = 0;
    this.#atRest = found.atRest;
    this.#send();
    return this.#frames.length > 0;
  }

  onRoom(): void {
    if (this.#hasRoom) return;
    this.#hasRoom = true;
    this.#send();
    // What it missed meanwhile.
    if (this.isIdle) this.#feed.hint();
  }

  onEnd(): void {
    this.#feed.leave(this);
  }

  #send(): void {
    while (this.#hasRoom && this.#sent < this.#frames.length) {
      const frame = this.#frames[this.#sent]!;
      this.#sent += 1;
      this.after = Number(frame.id);
      this.#hasRoom = this.stream.send(frame);
    }
    // Who names the last event of a resource at rest waits for more; who has just got it is done.
    if (this.isIdle && this.after !== this.#seen && this.after === this.#atRest) this.stream.end();
  }
}

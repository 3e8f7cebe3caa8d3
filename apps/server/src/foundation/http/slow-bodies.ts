const LOOK_MS = 1000;
const BYTES_PER_SECOND = 1024;

/** What a body may take, and from when on it must have come at `BYTES_PER_SECOND` on average. */
interface Terms {
  mostSeconds: number;
  secondsOfGrace: number;
}

const ofJson: Terms = { mostSeconds: 30, secondsOfGrace: 10 };
/** Files come over whatever line. Node gives them an hour. */
export const ofFiles: Terms = { mostSeconds: Number.POSITIVE_INFINITY, secondsOfGrace: 60 };

/** A body that is being read. */
export interface ComingBody {
  /** Looks that it has been through, and so seconds: those in which this process itself stood still don't count. */
  seconds: number;
  /** That have come. */
  readonly bytes: number;
  /** Whether it is the client who is waited for; where it can't say, it is. */
  isWaitedFor?(): boolean;
  /** Called once, when it is too slow. */
  onTooSlow(): void;
}

/** Watches the bodies of a process, all with one timer: most are there before it has run. */
export function watchBodies(terms = ofJson) {
  const coming = new Set<ComingBody>();
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    for (const body of coming) {
      if (body.isWaitedFor?.() === false) continue;
      body.seconds += 1;
      if (isInTime(body, terms)) continue;
      coming.delete(body);
      body.onTooSlow();
    }
    if (coming.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    add(body: ComingBody): void {
      coming.add(body);
      timer ??= setInterval(look, LOOK_MS).unref();
    },
    remove: (body: ComingBody): boolean => coming.delete(body),
  };
}

const isInTime = ({ seconds, bytes }: ComingBody, { mostSeconds, secondsOfGrace }: Terms) =>
  seconds < secondsOfGrace || (seconds < mostSeconds && bytes >= seconds * BYTES_PER_SECOND);

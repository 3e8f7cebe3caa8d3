const LOOK_MS = 1000;
/** What a body of JSON may take, and from when on it must have come so fast on average. */
const MOST_SECONDS = 30;
const SECONDS_OF_GRACE = 10;
const BYTES_PER_SECOND = 1024;

/** A body that is being read. */
export interface ComingBody {
  /** Looks that it has been through, and so seconds: those in which this process itself stood still don't count. */
  seconds: number;
  /** That have come. */
  bytes: number;
  /** Called once, when it is too slow. */
  onTooSlow(): void;
}

/** Watches the bodies of a process, all with one timer: most are there before it has run. */
export function watchBodies() {
  const coming = new Set<ComingBody>();
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    for (const body of coming) {
      body.seconds += 1;
      if (isInTime(body)) continue;
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

const isInTime = ({ seconds, bytes }: ComingBody) =>
  seconds < SECONDS_OF_GRACE || (seconds < MOST_SECONDS && bytes >= seconds * BYTES_PER_SECOND);

/**
 * Does a work once for all who ask while it is under way, or within so many milliseconds after it; a failure is not kept.
 */
export function shared<Result>(work: () => Promise<Result>, keepMs = 0): () => Promise<Result> {
  let done: Promise<Result> | undefined;
  let goodUntil = 0;
  return () => {
    if (done && performance.now() < goodUntil) return done;
    goodUntil = Number.POSITIVE_INFINITY;
    done = work();
    done.then(
      () => {
        goodUntil = performance.now() + keepMs;
      },
      () => {
        goodUntil = 0;
      },
    );
    return done;
  };
}

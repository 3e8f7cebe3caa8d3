/**
 * Carries something out, and throws the signal's reason where it takes longer than `ms`, also if it takes no notice of the
 * signal: what waits for a provider must not wait for ever.
 */
export async function withDeadline<T>(ms: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(ms);
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  return Promise.race([act(signal), late]);
}

import type { Notifications } from '../../foundation/database/notifications.ts';

const POLL_MS = 1000;

/**
 * Comes at once, and then whenever a resource may have changed: at every hint, and once a second because hints get lost.
 * @param topic the resource's UUID
 * @param signal ends it
 */
export async function* ticks(
  notifications: Pick<Notifications, 'subscribe'>,
  topic: string,
  signal: AbortSignal,
): AsyncGenerator<void> {
  let hinted = true;
  let wake = () => {};
  const onHint = () => {
    hinted = true;
    wake();
  };
  const onAbort = () => wake();
  const unsubscribe = notifications.subscribe(topic, onHint);
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      if (!hinted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, POLL_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      if (signal.aborted) return;
      hinted = false;
      yield;
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', onAbort);
  }
}

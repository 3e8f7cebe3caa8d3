import type { ServerResponse } from 'node:http';
import type { StreamFrame } from './handler.ts';

export interface EventStreamOptions {
  /** Ends the stream: the client has gone, or its key is no longer good. */
  signal: AbortSignal;
  /** Ends the stream with `retry:`, so that the client comes back, to another server. */
  draining: AbortSignal;
  headers: Record<string, string>;
  /** Between two comments that keep proxies from closing a silent stream. */
  pingMs?: number;
}

const frameText = ({ id, event, data }: StreamFrame) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * Sends server-sent events until `frames` end or a signal says so. Takes the next frame only once the client has room
 * for it, so that a slow reader costs no memory. Rejects with what `frames` throw, after closing the stream.
 */
export async function sendEventStream(
  response: ServerResponse,
  frames: AsyncIterable<StreamFrame>,
  { signal, draining, headers, pingMs = 15_000 }: EventStreamOptions,
): Promise<void> {
  response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  response.flushHeaders();
  const stop = AbortSignal.any([signal, draining]);
  const ping = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': ping\n\n');
  }, pingMs);
  const iterator = frames[Symbol.asyncIterator]();
  try {
    while (!stop.aborted) {
      const next = await unlessAborted(stop, iterator.next());
      if (!next || next.done) break;
      if (!response.write(frameText(next.value))) await unlessAborted(stop, drained(response));
    }
    if (draining.aborted && !signal.aborted) response.write(`retry: ${500 + Math.floor(Math.random() * 1500)}\n\n`);
  } finally {
    clearInterval(ping);
    response.end();
    // A generator that waits ends when it sees the signal; the stream doesn't wait for it.
    iterator.return?.().catch(() => undefined);
  }
}

/**
 * What a promise brings, or nothing once the signal aborts. A race against one promise for the whole stream would keep
 * every frame until its end.
 */
function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(undefined);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

const drained = (response: ServerResponse) =>
  new Promise<undefined>((resolve) => response.once('drain', () => resolve(undefined)));

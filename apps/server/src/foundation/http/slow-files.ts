import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../values/service-error.ts';
import { soundFirst } from '../values/sound-first.ts';
import { ofFiles, watchBodies } from './slow-bodies.ts';

const files = watchBodies(ofFiles);

const tooSlow = () =>
  new ServiceError('request_timeout', 'The file comes too slowly: send at least 1 KiB a second on average.');

/**
 * Watches a request that brings files, until it has come or what this answers with is called. Seconds in which the server
 * itself has not taken what is there don't count.
 * @param onTooSlow called once, with the `request_timeout` to refuse it with
 */
export function watchFiles(request: IncomingMessage, onTooSlow: (error: ServiceError) => void): () => void {
  const { socket } = request;
  const before = socket.bytesRead;
  const coming = {
    seconds: 0,
    get bytes() {
      return socket.bytesRead - before;
    },
    isWaitedFor: () => !request.complete && request.readableLength === 0,
    onTooSlow: () => onTooSlow(tooSlow()),
  };
  const stop = () => void files.remove(coming);
  files.add(coming);
  request.once('end', stop).once('close', stop);
  return stop;
}

/** The bytes of a request that is a file, as they come. Throws `request_timeout` where they come too slowly. */
export async function* fileOf(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = request.iterator({ destroyOnReturn: false });
  let late: ServiceError | undefined;
  let giveUp = (_error: ServiceError) => {};
  const stop = watchFiles(request, (error) => {
    late = error;
    giveUp(error);
  });
  const next = () =>
    new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      giveUp = reject;
      chunks.next().then(resolve, reject);
    });
  try {
    for (let each = await next(); !each.done; each = await next()) {
      await soundFirst();
      yield each.value;
      if (late) throw late;
    }
  } finally {
    stop();
    // Where it still waits for a chunk, it is over with the request.
    const over = chunks.return?.();
    if (!late) await over;
    else over?.catch(() => undefined);
  }
}

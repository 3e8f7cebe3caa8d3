import type { StreamFrame, StreamSource } from '../src/foundation/http/handler.ts';

/**
 * Reads a stream as a client does that always has room.
 * @returns `reading`, which settles with the stream, and `end`, by which the client goes
 */
export function readStream(source: StreamSource, onFrame: (frame: StreamFrame) => void) {
  let end = () => {};
  const reading = new Promise<void>((resolve, reject) => {
    const over = (settle: () => void) => {
      sender.onEnd();
      settle();
    };
    const sender = source({
      send: (frame) => {
        onFrame(frame);
        return true;
      },
      end: () => over(resolve),
      fail: (error) => over(() => reject(error)),
    });
    end = () => over(resolve);
  });
  return { reading, end: () => end() };
}

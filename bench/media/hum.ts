// The thread of `pair.ts`: each call says what it hears.
import { serveMedia } from '../../packages/media/src/index.ts';
import type { Hum } from './pair.ts';

serveMedia<Hum>({
  isOpenAddress: () => true,
  voices: {
    hum: (_ask, { playout }) => ({
      start: () => void playout.push(Buffer.alloc(1600, 0x55)),
      hear: (frame) => void playout.push(frame),
      digit: () => {},
      mark: () => {},
      close: () => undefined,
    }),
  },
});

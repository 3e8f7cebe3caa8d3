import { FRAME, Playout, RtpPorts } from '@trunkline/media';
import { test } from 'vitest';
import { allWhileAlone, Shares } from '../../src/foundation/values/limiter.ts';
import { expectNoGrowth } from './cost-of-one.ts';

test('a port costs the same however many rest', () =>
  expectNoGrowth((others) => {
    let now = 0;
    const ports = new RtpPorts(
      0,
      4 * others,
      (total) => new Shares(total, allWhileAlone),
      () => now,
    );
    const call = () => ports.giveBack(ports.take('one')!, 'one');
    // So many rest at any time.
    const next = () => {
      now += 5000 / others;
      call();
    };
    for (let each = 0; each < 2 * others; each += 1) next();
    return (items) => {
      for (let item = 0; item < items; item += 1) next();
    };
  }));

test('a frame and a mark cost the same however much waits to be played', () =>
  expectNoGrowth(
    (others) => {
      const playout = new Playout(() => {});
      const audio = Buffer.alloc(FRAME);
      const frame = Buffer.alloc(FRAME);
      const say = () => {
        playout.push(audio);
        playout.mark('mark');
      };
      // The most is five minutes, with a mark for each frame.
      for (let waits = 0; waits < (others / 4) * 50; waits += 1) say();
      return (items) => {
        for (let item = 0; item < items; item += 1) {
          say();
          playout.next(frame);
        }
      };
    },
    { few: 40, many: 990 },
  ));

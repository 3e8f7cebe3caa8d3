import { expect, test } from 'vitest';
import { seeded } from '../test/mutated.ts';
import { indexNear, ReplayWindow } from './srtp-index.ts';

/** RFC 3711, appendix A, as it stands there: the rollover counter and the highest sequence number apart. */
function guess(roc: number, highest: number, sequence: number): number {
  let v = roc;
  if (highest < 32_768) {
    if (sequence - highest > 32_768) v = roc - 1;
  } else if (highest - 32_768 > sequence) v = roc + 1;
  return v * 65_536 + sequence;
}

test('the index of a packet is that of the RFC, and the true one, however packets are lost and late', () => {
  const below = seeded(11);
  let compared = 0;
  for (let walk = 0; walk < 200; walk += 1) {
    let index = 65_000 + below(1000);
    let highest = index;
    for (let step = 0; step < 1000; step += 1) {
      index += below(20) ? 1 : below(32_000);
      const heard = below(10) ? index : Math.max(0, index - below(700));
      if (Math.abs(heard - highest) >= 32_768) break;
      const found = indexNear(highest, heard % 65_536);
      const byRfc = guess(Math.floor(highest / 65_536), highest % 65_536, heard % 65_536);
      if (found !== heard || byRfc !== heard) expect({ highest, found, byRfc }).toEqual({ found: heard, byRfc: heard });
      compared += 1;
      highest = Math.max(highest, found);
    }
  }
  expect(compared).toBeGreaterThan(10_000);
});

test('the counter goes past 32 bits of packets', () => {
  const highest = 2 ** 40 + 65_535;
  expect(indexNear(highest, 0)).toBe(2 ** 40 + 65_536);
  expect(indexNear(highest, 65_534)).toBe(2 ** 40 + 65_534);
});

test('each index is taken once, as a set of all would have it', () => {
  const below = seeded(12);
  const window = new ReplayWindow(500);
  const taken = new Set([500]);
  for (let step = 0; step < 20_000; step += 1) {
    const index = Math.max(0, window.highest + below(200) - 180);
    const isFree = index > window.highest - 128 && !taken.has(index);
    if (window.isFree(index) !== isFree) expect({ step, isFree: window.isFree(index) }).toEqual({ step, isFree });
    if (!isFree) continue;
    window.take(index);
    taken.add(index);
  }
  expect(window.highest).toBeGreaterThan(10_000);
});

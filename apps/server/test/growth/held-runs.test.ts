import { test } from 'vitest';
import type { HeldRun } from '../../src/dialing/workflows/runs/advance-run.ts';
import { HeldRuns } from '../../src/dialing/workflows/runs/held-runs.ts';
import { expectNoGrowth } from './cost-of-one.ts';

/** Those that are moved on, wait in line and have their request under way: no process holds more. */
const MOST_HELD = 1200;

test('a run costs the same however many are held', () =>
  expectNoGrowth(
    (others) => {
      const held = new HeldRuns();
      const add = (id: number) => held.add({ run: { id: String(id) } } as HeldRun);
      for (let id = 0; id < others; id += 1) {
        const each = add(id);
        held.move(each, 'moving');
        held.move(each, id % 2 ? 'requesting' : 'in_line');
      }
      return (items) => {
        for (let item = 0; item < items; item += 1) {
          add(others + item);
          held.count('ready', 'moving', 'alone');
          for (const each of held.in('ready', 100)) {
            held.move(each, 'moving');
            held.move(each, 'gone');
          }
        }
      };
    },
    { few: 40, many: MOST_HELD },
  ));

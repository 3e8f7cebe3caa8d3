import { expect, test } from 'vitest';
import { countBeeps, listenTo } from './listen-to.ts';
import { canSpeak, spokenCalls } from './spoken-calls.ts';

test.runIf(canSpeak)(
  'of spoken calls all beeps are known soon, none is heard that isn’t there, and nobody is taken for a machine',
  () => {
    let [made, found] = [0, 0];
    for (const call of spokenCalls(40, 7)) {
      const { known, machineAt } = listenTo(call, false);
      const beeps = countBeeps(call, known);
      made += beeps.made;
      found += beeps.found;
      expect(beeps.wrong, call.about).toBe(0);
      if (call.answerer !== 'machine') expect(machineAt, call.about).toBeUndefined();
    }
    expect(made).toBeGreaterThan(10);
    expect(found / made).toBeGreaterThanOrEqual(0.85);
  },
);

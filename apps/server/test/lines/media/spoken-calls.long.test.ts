import { expect, test } from 'vitest';
import { countBeeps, listenTo } from './listen-to.ts';
import { canSpeak, type SpokenCall, spokenCalls } from './spoken-calls.ts';

const CALLS = 500;
const seed = Number(process.env['SPOKEN_SEED'] ?? 11);

/** How spoken calls are judged. */
function tally(withWords: boolean) {
  const counts = { made: 0, found: 0, wrong: 0, people: 0, peopleAsMachines: 0, machines: 0, machinesInTime: 0 };
  const judged: Record<string, number> = {};
  const fault: string[] = [];
  for (const call of spokenCalls(CALLS, seed)) {
    const { known, machineAt, verdict } = listenTo(call, withWords);
    const beeps = countBeeps(call, known);
    counts.made += beeps.made;
    counts.found += beeps.found;
    counts.wrong += beeps.wrong;
    if (beeps.wrong > 0) fault.push(call.about);
    if (call.answerer === 'human') {
      counts.people += 1;
      if (machineAt !== undefined) counts.peopleAsMachines += 1;
    } else if (call.answerer === 'machine') {
      counts.machines += 1;
      if (machineAt !== undefined && machineAt <= endOf(call)) counts.machinesInTime += 1;
    }
    const way = `${call.answerer} as ${verdict.answeredBy}`;
    judged[way] = (judged[way] ?? 0) + 1;
  }
  console.log(JSON.stringify({ withWords, ...counts, judged, fault }));
  return counts;
}

/** When the message of a machine is over: its words with what a model needs to understand them, or its first beep. */
const endOf = ({ beeps, saidUntil }: SpokenCall): number => (beeps[0] ? beeps[0].until : saidUntil + 1000);

test.runIf(canSpeak)(
  'without words: beeps are known within 300 ms, none that isn’t there, and people are people',
  () => {
    const { made, found, wrong, people, peopleAsMachines } = tally(false);
    expect(found / made).toBeGreaterThanOrEqual(0.85);
    expect(wrong).toBe(0);
    expect(peopleAsMachines / people).toBeLessThanOrEqual(0.01);
  },
);

test.runIf(canSpeak)(
  'with words, every tenth of them wrong and 0.8 s late: most machines are known before their message ends',
  () => {
    const { machines, machinesInTime, people, peopleAsMachines } = tally(true);
    expect(machinesInTime / machines).toBeGreaterThanOrEqual(0.9);
    expect(peopleAsMachines / people).toBeLessThanOrEqual(0.01);
  },
);

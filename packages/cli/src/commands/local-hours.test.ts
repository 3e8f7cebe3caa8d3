import { expect, test } from 'vitest';
import type { Screen } from '../screen.ts';
import { sayDefaultHours, sayLocalHours } from './local-hours.ts';

/** What is said on a screen, each line as it is given. */
function said(say: (screen: Screen) => void): string[] {
  const lines: string[] = [];
  const section: Screen['section'] = (_, rows, columns) => {
    for (const row of rows)
      lines.push(columns.map(([, column]) => (typeof column === 'function' ? column(row) : '')).join(' '));
  };
  say({ say: (text: string) => lines.push(text), section } as unknown as Screen);
  return lines;
}

const hours = (of: (hour: number) => number) => Array.from({ length: 24 }, (_, hour) => of(hour));

test('local hours are told in stretches, and those who could ring early or late apart', () => {
  const contacts = hours((hour) => (hour < 7 || hour >= 21 ? 0 : hour === 7 ? 1200 : 5000));
  expect(said((screen) => sayLocalHours(screen, { contacts, earliest: 450, latest: 1255, earlyOrLate: 1200 }))).toEqual(
    [
      'In the first 24 hours they could ring from 7:30 to 20:55, by their own clocks.',
      '1,200 could ring before 8:00 or from 21:00 on, where they are.',
      '7:00 8:00 1,200',
      '8:00 21:00 5,000',
    ],
  );
  const nobody = { contacts: hours(() => 0), earlyOrLate: 0 };
  expect(said((screen) => sayLocalHours(screen, nobody))).toEqual(['In the first 24 hours nobody could ring.']);
});

test('hours that nobody has set are told with what sets them', () => {
  for (const kept of ['held', 'simulated', 'mixed'] as const)
    expect(said((screen) => sayDefaultHours(screen, kept))).toEqual([
      expect.stringMatching(/nobody has set .*trunkline workspace update --quiet-hours 21:00-8:00$/),
    ]);
  expect(said((screen) => sayDefaultHours(screen, undefined))).toEqual([]);
});

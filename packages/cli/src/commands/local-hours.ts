import type { Known, TrunklineClient } from '@trunkline/client';
import type { Screen } from '../screen.ts';
import { count } from '../text.ts';

type Preview = Awaited<ReturnType<TrunklineClient['campaigns']['preview']>>;

/** Minutes since midnight as a clock shows them: `8:05`, and `24:00` for the end of the day. */
export const clockTime = (minutes: number): string =>
  `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;

/** Says at which hours of their own clocks callees could ring. */
export function sayLocalHours(
  screen: Screen,
  { contacts, earliest, latest, earlyOrLate }: Preview['localHours'],
): void {
  if (earliest === undefined || latest === undefined) {
    screen.say('In the first 24 hours nobody could ring.');
    return;
  }
  const range = `${clockTime(earliest)} to ${clockTime(latest)}`;
  screen.say(`In the first 24 hours they could ring from ${range}, by their own clocks.`);
  if (earlyOrLate > 0) screen.say(`${count(earlyOrLate)} could ring before 8:00 or from 21:00 on, where they are.`);
  screen.section('By the hour where they are', stretches(contacts), [
    ['from', ({ from }) => clockTime(from * 60)],
    ['to', ({ to }) => clockTime(to * 60)],
    ['contacts', (each) => count(each.contacts)],
  ]);
}

/** Hours in which as many could ring, taken together; without those in which nobody could. */
function stretches(contacts: readonly number[]): { from: number; to: number; contacts: number }[] {
  const found: { from: number; to: number; contacts: number }[] = [];
  for (const [hour, each] of contacts.entries()) {
    const last = found.at(-1);
    if (last && last.contacts === each) last.to = hour + 1;
    else found.push({ from: hour, to: hour + 1, contacts: each });
  }
  return found.filter((each) => each.contacts > 0);
}

const defaultHours = {
  held: 'From 21:00 to 8:00 there nobody is rung: nobody has set quiet hours yet.',
  simulated:
    'Its calls are simulated. Where a phone rings, it would be quiet from 21:00 to 8:00: nobody has set hours yet.',
  mixed: 'From 21:00 to 8:00 there only its simulated numbers call: nobody has set quiet hours yet.',
} as const satisfies Record<Known<NonNullable<Preview['defaultQuietHours']>>, string>;

/** Says whether calls keep the quiet hours that a new workspace begins with. */
export function sayDefaultHours(screen: Screen, kept: Preview['defaultQuietHours']): void {
  if (kept && kept in defaultHours)
    screen.say(
      `${defaultHours[kept as keyof typeof defaultHours]} Set them: trunkline workspace update --quiet-hours 21:00-8:00`,
    );
}

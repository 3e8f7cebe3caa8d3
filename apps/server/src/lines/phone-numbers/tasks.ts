import { withDeadline } from '../../foundation/values/deadline.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import { whileQuiet } from '../../platform/jobs/quiet.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { lookAfterNumber } from './look-after-number.ts';
import type { PhoneNumberRow } from './phone-number.ts';
import { releaseDue } from './release-number.ts';
import { settleDue } from './settle-purchase.ts';
import { firstDueNumber, takeDueNumbers } from './store.ts';

const REST_MS = 2_000;
const AT_ONCE = 50;
/** When a number is due again if nothing comes of this look: its server died, or its provider can't be asked. */
const AGAIN_MS = 60_000;
/** How long a look may take before the round goes on without it. */
const LOOK_MS = 30_000;

/**
 * The background side of phone numbers: settles purchases and releases that a server has left. Any server takes up what is
 * due, each number once.
 * @returns what ends it, after the round that is under way
 */
export function startPhoneNumberTasks(deps: PhoneNumberDeps, restMs = REST_MS): Repeating {
  const act = async () => (await takeUpDueNumbers(deps)) === AT_ONCE;
  return every(restMs, act, {
    name: 'phone numbers',
    log: deps.log,
    asleep: whileQuiet(deps.database, firstDueNumber),
  });
}

/** One round: looks at the numbers that are due, at most 50. Returns how many they were. */
export async function takeUpDueNumbers(deps: PhoneNumberDeps): Promise<number> {
  const now = deps.clock.now();
  const next = new Date(now.getTime() + AGAIN_MS);
  const due = await deps.database.inEngine((tx) => takeDueNumbers(tx, now, next, AT_ONCE));
  await Promise.all(due.map((row) => attempt(deps, row, () => actFor(row)(deps, row))));
  return due.length;
}

function actFor({
  releasing_from,
  status,
}: PhoneNumberRow): (deps: PhoneNumberDeps, row: PhoneNumberRow) => Promise<void> {
  if (releasing_from) return releaseDue;
  return status === 'active' || status === 'suspended' ? lookAfterNumber : settleDue;
}

async function attempt(deps: PhoneNumberDeps, row: PhoneNumberRow, act: () => Promise<unknown>): Promise<void> {
  await withDeadline(LOOK_MS, act).catch((error) => {
    deps.log.warn({ err: error, phoneNumberId: row.id }, 'a phone number could not be looked after; it is tried again');
  });
}

import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import { type Store, stores } from '../../platform/person-data/stores.ts';

export type Step = 'entries' | 'contacts' | 'waiting calls' | Store | 'files' | 'keys';

/** What is done one after the other. A row names the one that it is at, and those that it has passed. */
const steps: readonly Step[] = ['entries', 'contacts', 'waiting calls', ...stores, 'files', 'keys'];

const nameOf = (step: Step): string => (typeof step === 'string' ? step : step.table);

export const stepNames: readonly string[] = steps.map(nameOf);

/** The step of a name that this server knows. */
export const stepNamed = (name: string): Step => steps[stepNames.indexOf(name)]!;

/** SQL for whether this server knows the step of an erasure: another is done by servers of a newer version. */
export const hasKnownStep = sql<boolean>`step in (${sql.join(stepNames.map((name) => sql.lit(name)))})`;

/** What is passed of an erasure that is at a step: what follows it here is done after it, though it may have been done. */
export function passedBefore(step: string, passed: readonly string[]): string[] {
  const following = stepNames.slice(stepNames.indexOf(step));
  return passed.filter((name) => !following.includes(name));
}

/**
 * The name of the step that follows those that were passed; undefined after the last. A server of a newer version may have
 * more of them. Where all that are known here are passed, the erasure is left to it with one of its own.
 */
export async function stepAfter({ db }: EngineTx, passed: readonly string[]): Promise<string | undefined> {
  const next = stepNames.find((name) => !passed.includes(name));
  if (next) return next;
  const { rows } = await sql<{ name: string }>`
    select name from installation, unnest(erasure_steps) as name where name <> all (${passed}::text[]) limit 1`.execute(
    db,
  );
  return rows[0]?.name;
}

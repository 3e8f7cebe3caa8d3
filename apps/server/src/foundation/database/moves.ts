import { type RawBuilder, sql } from 'kysely';

/** A state table: each state, and those that it can move to. */
type Transitions = Readonly<Record<string, readonly string[]>>;
type State<Table> = keyof Table & string;

/** The states that a state table lets move to `to`. */
export const statesBefore = <Table extends Transitions>(transitions: Table, to: State<Table>): State<Table>[] =>
  Object.keys(transitions).filter((state) => transitions[state]!.includes(to));

/**
 * The states that a state table lets move to `to`, as SQL: `status in ${from(uploadTransitions, 'failed')}`. Literals,
 * since a parameter loses partial indexes under a generic plan.
 * @param only where a statement moves but some of them; throws for one that the table doesn't let move there
 */
export function from<Table extends Transitions>(
  transitions: Table,
  to: State<Table>,
  ...only: State<Table>[]
): RawBuilder<unknown> {
  const allowed = statesBefore(transitions, to);
  const states = only.length > 0 ? only : allowed;
  const wrong = states.find((state) => !allowed.includes(state));
  if (states.length === 0 || wrong) throw new Error(`Nothing moves from ${wrong ?? 'any state'} to ${to}.`);
  return sql`(${sql.join(states.map((state) => sql.lit(state)))})`;
}

import type { SourceFile } from './source-rules.ts';

/** A state table: each state, and those that it can move to. */
export type Transitions = Readonly<Record<string, readonly string[]>>;

/** The values that a CHECK of the schema's dump (`schema.txt`) allows a column of a table. */
export function allowedValues(dump: string, table: string, column: string): string[] {
  const block = dump.split('\n\n').find((each) => new RegExp(`^table ${table}\\b(?! partition of)`).test(each)) ?? '';
  const check = block.match(new RegExp(`CHECK \\(\\(${column} = ANY \\(ARRAY\\[(.+?)\\]\\)\\)\\)`));
  return [...(check?.[1] ?? '').matchAll(/'([^']+)'::text/g)].map(([, value]) => value!);
}

const literals = (text: string) => [...text.matchAll(/'([a-z_]+)'/g)].map(([, value]) => value!);

/** A column that holds a state. */
export interface Machine {
  table: string;
  column: string;
  transitions: Transitions;
  /** What the sources call the table of its transitions, if they have one. */
  name?: string;
  /** The function that moves its rows, given the state that they come to as its third argument. */
  mover?: string;
}

interface Move {
  at: string;
  table: string;
  to: string;
  /** Undefined where the statement names none. */
  from: string[] | undefined;
}

const statesBefore = (transitions: Transitions, to: string) =>
  Object.keys(transitions).filter((state) => transitions[state]!.includes(to));

/** A call of `from` (`foundation/database/moves.ts`): the name of a state table, a state, and those of the states before that are meant. */
const fromCall = /\bfrom\((\w+), '([a-z_]+)'((?:, '[a-z_]+')*)\)/;

/** The states that a call of `from` stands for. */
const named = (transitions: Transitions, to: string, only: string) =>
  only ? literals(only) : statesBefore(transitions, to);

/** Every statement in a file that gives a row of one of these machines a state written as a literal. */
export function movesOf({ path: at, text }: SourceFile, machines: readonly Machine[]): Move[] {
  return [...text.matchAll(/\bupdate\s+([a-z_]+)(?:\s+(?:as\s+)?[a-z]\b)?\s+set\b([^`]*)/g)].flatMap(
    ([, table = '', rest = '']) => {
      const machine = machines.find((each) => each.table === table);
      if (!machine) return [];
      const { column, transitions, name } = machine;
      const [set = '', ...conditions] = rest.split(/\bwhere\b/);
      const to = set.match(new RegExp(`(?<![.\\w])${column} = '([a-z_]+)'`))?.[1];
      if (!to) return [];
      const condition = new RegExp(`\\b${column} (?:= '[a-z_]+'|in \\([^)]*\\)|in \\$\\{${fromCall.source}\\})`);
      const [found, by, asked, only = ''] = conditions.join(' ').match(condition) ?? [];
      const isOfTable = by === name && asked === to;
      return [
        { at, table, to, from: by ? (isOfTable ? named(transitions, to, only) : undefined) : found && literals(found) },
      ];
    },
  ) as Move[];
}

/** The moves of a state table that no statement of these files makes. */
export function movesNotMade(files: readonly SourceFile[], machine: Machine): string[] {
  const { table, transitions, name, mover } = machine;
  const made = files.flatMap((file) => [
    ...movesOf(file, [machine]).map(({ from, to }) => ({ from: from ?? [], to })),
    ...[...file.text.matchAll(new RegExp(fromCall, 'g'))]
      .filter(([, by]) => by === name)
      .map(([, , to, only]) => ({ from: named(transitions, to!, only!), to: to! })),
    ...(mover
      ? [...file.text.matchAll(new RegExp(`\\b${mover}\\(\\s*[\\w.]+,\\s*[\\w.]+,\\s*'([a-z_]+)'`, 'g'))]
      : []
    ).map(([, to]) => ({ from: statesBefore(transitions, to!), to: to! })),
  ]);
  return Object.entries(transitions).flatMap(([from, tos]) =>
    tos
      .filter((to) => !made.some((move) => move.to === to && move.from.includes(from)))
      .map((to) => `nothing moves ${table} from ${from} to ${to}`),
  );
}

/** Moves rows that `pick-contacts.ts` has picked by their state and locked, in the same transaction. */
const movesLockedRows = 'dialing/campaigns/claim/write-claim.ts';

/** The moves that a state table doesn't know, or that don't say where from. To stay in a state is no move. */
export function wrongMoves(moves: readonly Move[], machines: readonly Machine[]): string[] {
  return moves.flatMap(({ at, table, to, from }) => {
    if (!from) return at === movesLockedRows ? [] : [`${at} moves ${table} to ${to} from any state`];
    return from
      .filter(
        (state) => state !== to && !machines.find((each) => each.table === table)?.transitions[state]?.includes(to),
      )
      .map((state) => `${at} moves ${table} from ${state} to ${to}`);
  });
}

/** States compared with in SQL that no table has. */
export function unknownStates({ path: at, text }: SourceFile, known: ReadonlySet<string>): string[] {
  const compared = /\b(?:status|state)\s*(?:=|<>|in|not in)\s*(\('[^)]*\)|'[^']*')/g;
  return [...text.matchAll(compared)]
    .flatMap(([, list]) => literals(list!))
    .filter((state) => !known.has(state))
    .map((state) => `${at} compares with the state ${state}`);
}

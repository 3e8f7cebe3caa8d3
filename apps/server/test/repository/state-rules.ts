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

interface Move {
  at: string;
  table: string;
  to: string;
  /** Undefined where the statement names none. */
  from: string[] | undefined;
}

/** Every statement in a file that gives a row of one of these tables a state written as a literal. */
export function movesOf({ path: at, text }: SourceFile, columns: Readonly<Record<string, string>>): Move[] {
  return [...text.matchAll(/\bupdate\s+([a-z_]+)(?:\s+(?:as\s+)?[a-z]\b)?\s+set\b([^`]*)/g)].flatMap(
    ([, table = '', rest = '']) => {
      const column = columns[table];
      if (!column) return [];
      const [set = '', ...conditions] = rest.split(/\bwhere\b/);
      const to = set.match(new RegExp(`(?<![.\\w])${column} = '([a-z_]+)'`))?.[1];
      if (!to) return [];
      const from = conditions.join(' ').match(new RegExp(`\\b${column} (?:= '[a-z_]+'|in \\([^)]*\\))`))?.[0];
      return [{ at, table, to, from: from && literals(from) }];
    },
  ) as Move[];
}

/** Moves rows that `pick-contacts.ts` has picked by their state and locked, in the same transaction. */
const movesLockedRows = 'campaigns/claim/write-claim.ts';

/** The moves that a state table doesn't know, or that don't say where from. */
export function wrongMoves(moves: readonly Move[], tables: Readonly<Record<string, Transitions>>): string[] {
  return moves.flatMap(({ at, table, to, from }) => {
    if (!from) return at === movesLockedRows ? [] : [`${at} moves ${table} to ${to} from any state`];
    return from
      .filter((state) => !tables[table]?.[state]?.includes(to))
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

/** One measured ratio. */
export interface Row {
  what: string;
  ours: number;
  peer: string;
  theirs: number;
  unit: string;
  /** The ratio that is aimed at, such as `≥ 1`. */
  aim?: string;
}

/** What something costs, with nothing to compare it to. */
export interface Cost {
  what: string;
  value: number;
  unit: string;
  aim?: string;
}

/** What a measurement found. */
export interface Found {
  rows?: Row[];
  costs?: Cost[];
}

/** Of what figures are. */
export interface Origin {
  commit: string;
  /** Whether what is measured differed from the commit. */
  isChanged?: true;
  /** UTC. */
  date: string;
  machine: string;
}

/** A row or a cost as it is kept: a cost has no peer. */
export interface Result extends Origin {
  measurement: string;
  what: string;
  ours: number;
  peer?: string;
  theirs?: number;
  ratio?: number;
  unit: string;
  aim?: string;
}

/** By which a row or a cost is known. */
export const nameOf = ({ what, peer }: { what: string; peer?: string }): string =>
  peer === undefined ? what : `${what}, beside ${peer}`;

const figure = (value: number, unit: string) =>
  `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2)} ${unit}`.trimEnd();

const compared = ['What', 'Trunkline', 'Peer', 'its', 'Ratio', 'Aim'];
const alone = ['What', 'Cost', 'Aim'];

const rowCells = ({ what, ours, peer, theirs, unit, aim = '' }: Row) => [
  ...[what, figure(ours, unit), peer, figure(theirs, unit)],
  ...[(ours / theirs).toFixed(2), aim],
];

const costCells = ({ what, value, unit, aim = '' }: Cost) => [what, figure(value, unit), aim];

/** The ratios, and the costs, as Markdown tables. */
export const foundTables = ({ rows = [], costs = [] }: Found): string =>
  [...table(compared, rows.map(rowCells)), ...table(alone, costs.map(costCells))].join('\n');

/** The same of what was kept, each with its commit; and what the commits were measured on. */
export function tablesOf(results: readonly Result[]): string {
  const rows = results.flatMap((each) => {
    const { peer, theirs, ratio } = each;
    if (peer === undefined || theirs === undefined) return [];
    return [[...rowCells({ ...each, peer, theirs }).with(4, ratio?.toFixed(2) ?? ''), commitOf(each)]];
  });
  const costs = results
    .filter(({ peer }) => peer === undefined)
    .map((each) => [...costCells({ ...each, value: each.ours }), commitOf(each)]);
  const origins = new Set(results.map((each) => `${commitOf(each)}: ${each.date}, ${each.machine}.`));
  return [...table([...compared, 'At'], rows), ...table([...alone, 'At'], costs), ...list([...origins])].join('\n');
}

const commitOf = ({ commit, isChanged }: Origin) => `\`${commit.slice(0, 9)}\`${isChanged ? ', changed' : ''}`;

function table(head: string[], rows: string[][]): string[] {
  if (rows.length === 0) return [];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line), ''];
}

const list = (lines: string[]): string[] => (lines.length > 0 ? [...lines.map((line) => `- ${line}`), ''] : []);

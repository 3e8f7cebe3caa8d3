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

const figure = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2);

/** Prints the ratios, and the costs, as Markdown tables. */
export function printTables({ rows = [], costs = [] }: Found): void {
  print(
    ['What', 'Trunkline', 'Peer', 'its', 'Ratio', 'Aim'],
    rows.map(({ what, ours, peer, theirs, unit, aim }) => [
      what,
      `${figure(ours)} ${unit}`,
      peer,
      `${figure(theirs)} ${unit}`,
      (ours / theirs).toFixed(2),
      aim ?? '',
    ]),
  );
  print(
    ['What', 'Cost', 'Aim'],
    costs.map(({ what, value, unit, aim }) => [what, `${figure(value)} ${unit}`, aim ?? '']),
  );
}

function print(head: string[], rows: string[][]): void {
  if (rows.length === 0) return;
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  console.log(['', line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n'));
}

/** One measured ratio. */
export interface Row {
  what: string;
  ours: number;
  peer: string;
  theirs: number;
  unit: string;
  /** The ratio that is aimed at. */
  aim: number;
  /** Set where less is better. */
  most?: boolean;
}

const figure = (value: number) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2));

/** Prints ratios as a table. */
export function printTable(rows: Row[]): void {
  console.table(
    rows.map(({ what, ours, peer, theirs, unit, aim, most }) => ({
      what,
      ours: `${figure(ours)} ${unit}`,
      peer,
      theirs: `${figure(theirs)} ${unit}`,
      ratio: (ours / theirs).toFixed(2),
      aim: `${most ? '≤' : '≥'} ${aim}`,
    })),
  );
}

/** What makes a spreadsheet take a cell for a formula, in full width as in half, behind any guards that stand there already. */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/;
const GUARDED = /^''*[=+\-@\t\r＝＋－＠]/;

/** Puts an apostrophe before a cell that a spreadsheet would take for a formula. */
export const guardCell = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);

/** Takes the guard off again, so that a report or an export can be uploaded as it is. */
export const unguardCell = (cell: string): string =>
  cell.charCodeAt(0) === 39 && GUARDED.test(cell) ? cell.slice(1) : cell;

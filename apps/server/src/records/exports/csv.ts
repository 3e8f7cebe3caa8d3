import { guardCell } from '../../audience/contact-lists/reading/cell-guard.ts';

/** What a cell can hold. Lists and objects are written as JSON; what is absent is empty. */
export type Cell = unknown;

const textOf = (cell: Cell): string => {
  if (cell === undefined || cell === null) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
};

/** One CSV field (RFC 4180), quoted where it must be, and guarded against being run as a formula. */
function field(cell: Cell): string {
  const guarded = guardCell(textOf(cell));
  return /[",\r\n]|^\s|\s$/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** One line of a CSV file. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(field).join(',')}\r\n`;

import type { components } from '../../foundation/values/generated/contract.ts';
import type { ContactBatch } from './reading/read-contacts.ts';
import { shapeError } from './shape-preview.ts';

/** A rejected row that is kept to be mended. */
export interface KeptRow {
  row: number;
  cells: string[];
  errors: components['schemas']['ContactListRowError'][];
}

/** So many rejected rows of a file are kept, and so many characters of them. */
const MOST_ROWS = 1000;
const MOST_CHARACTERS = 4_000_000;

/** Makes what takes the first rejected rows of a file from its batches, until there is no room for one. */
export function keepFirst(): (rejected: ContactBatch['rejected']) => KeptRow[] {
  let rows = 0;
  let characters = 0;
  return (rejected) => {
    const kept: KeptRow[] = [];
    for (const { row, faults } of rejected) {
      // One for each cell: of commas alone there may be many.
      for (const field of row.fields) characters += field.length + 1;
      rows += 1;
      if (rows > MOST_ROWS || characters > MOST_CHARACTERS) {
        rows = MOST_ROWS;
        break;
      }
      kept.push({
        row: row.row,
        cells: row.fields.map((field) => field.toWellFormed()),
        errors: faults.map(shapeError),
      });
    }
    return kept;
  };
}

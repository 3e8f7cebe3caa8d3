import type { components } from '../../../foundation/values/generated/contract.ts';
import { guardCell } from './cell-guard.ts';

/** One thing wrong with one row of the file. */
export interface RowFault {
  /** Position in the file from 1, the header included. */
  row: number;
  /** The column's name; empty where the whole row is meant. */
  column: string;
  /** What stands there. */
  value: string;
  code: components['schemas']['ContactListRowErrorCode'];
  /** What is wrong, for a person. */
  reason: string;
}

/** In characters; of a longer cell the beginning is shown. */
export const MAX_VALUE_LENGTH = 1000;

/** The first line of an error report. */
export const ERROR_REPORT_HEADER = 'row,column,value,code,reason\r\n';

/** One CSV field, quoted where it must be, and guarded against being run as a formula. */
function field(text: string): string {
  const guarded = guardCell(text);
  return /[",\r\n]|^\s|\s$/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** The lines of an error report (RFC 4180) for some faults. */
export function errorReportLines(faults: readonly RowFault[]): string {
  let lines = '';
  for (const { row, column, value, code, reason } of faults) {
    lines += `${row},${field(column)},${field(value.slice(0, MAX_VALUE_LENGTH))},${code},${field(reason)}\r\n`;
  }
  return lines;
}

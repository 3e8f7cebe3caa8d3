import { format as formatNumber, isDateFormat } from 'numfmt';

/** Formats that a workbook names by number alone (ECMA-376, 18.8.30). Those of 14, 22 and of Asia are the reader's own dates. */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  12: '# ?/?',
  13: '# ??/??',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd hh:mm',
  37: '#,##0 ;(#,##0)',
  38: '#,##0 ;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mmss.0',
  49: '@',
};
const OWN_DATE = 'yyyy-mm-dd';
const isOwnDate = (id: number) => id === 14 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58);

/** What stands before a date of the system that counts from 1904. */
const DAYS_TO_1904 = 1462;
const DIGITS = 15;
const MOST_CODE = 255;

/** How the numbers of one style are shown. */
export type NumberFormat = (value: number) => string;

/** As it is, without the powers of ten that a narrow column shows: they would cut a phone number. */
const general: NumberFormat = (value) => String(Number(value.toPrecision(DIGITS)));

/**
 * How numbers are shown that bear a format, dates in the order of year, month and day if the format leaves it to the reader.
 * @param code what the workbook says of this number of a format, if anything
 */
export function numberFormat(id: number, code: string | undefined, is1904: boolean): NumberFormat {
  const pattern = code ?? (isOwnDate(id) ? OWN_DATE : BUILT_IN[id]);
  if (pattern === undefined || pattern.length > MOST_CODE || /^general$|^@$|E[+-]/i.test(pattern)) return general;
  let shift = 0;
  try {
    shift = is1904 && isDateFormat(pattern) ? DAYS_TO_1904 : 0;
  } catch {
    return general;
  }
  return (value) => {
    try {
      return formatNumber(pattern, value + shift, { throws: true }).trim();
    } catch {
      return general(value);
    }
  };
}

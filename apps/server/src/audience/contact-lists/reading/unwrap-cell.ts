import { unguardCell } from './cell-guard.ts';

/** What copying from chats and web pages leaves around a number: direction marks and spaces without width. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
/** Digits of Arabic and Persian; their last four bits are their value. Wide ones are undone before. */
const FOREIGN_DIGITS = /[\u0660-\u0669\u06f0-\u06f9]/g;
/** A number as programs show it that take it for an amount: Excel's own format for numbers has two decimals. */
const DECIMALS = /^(\+?\d{7,15})[.,]0{1,2}$/;
/** The same with its thousands apart. */
const THOUSANDS = /^\d{1,3}(?:(?:,\d{3}){2,4}(?:\.0{1,2})?|(?:\.\d{3}){2,4},0{1,2})$/;
const ASCII = /^[\x20-\x7e]*$/;

/** Takes off what spreadsheets, address books and chats wrap around a number, and writes its digits as 0 to 9. */
export function unwrapCell(cell: string): string {
  let text = cell.trim();
  if (!ASCII.test(text)) {
    const plain = text.replace(INVISIBLE, '').normalize('NFKC');
    text = plain.replace(FOREIGN_DIGITS, (digit) => String(digit.charCodeAt(0) & 15)).trim();
  }
  text = unguardCell(text);
  const formula = /^="?([^"]+)"?$/.exec(text);
  if (formula) text = formula[1]!;
  return text
    .replace(/^tel:/i, '')
    .replace(/^['’`´]+(?=[\d+(])/, '')
    .replace(THOUSANDS, (amount) => amount.replace(/[.,]0{1,2}$/, '').replace(/[.,]/g, ''))
    .replace(DECIMALS, '$1')
    .trim();
}

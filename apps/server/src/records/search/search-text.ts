/** A text that somebody looks for, as what it may be. */
export interface SearchText {
  /** With its prefix. */
  id: string | undefined;
  /** Digits that a number has in a row, without the plus; all of them if the number is whole. */
  digits: string | undefined;
  isWholeNumber: boolean;
  /** A regular expression of PostgreSQL: a name has a word that begins with the text. */
  inName: string;
}

const ID = /^[a-z]+_[0-9a-f]{32}$/;
const NUMBER = /^\+?[\d\s().\-/]+$/;
const FEWEST_DIGITS = 4;
/** In an expression of PostgreSQL, which takes no-break and ideographic spaces for none. */
const SPACE = '[\\s\\u00a0\\u202f\\u3000]+';

/** @param readNumber reads a number as a contact file's, E.164 without the plus */
export function readSearchText(sent: string, readNumber: (text: string) => number | undefined): SearchText {
  // In a URL a plus may stand for a space.
  const text = sent.replace(/^ (?=[1-9]\d{6,14}$)/, '+').trim();
  const id = ID.exec(text.toLowerCase())?.[0];
  const number = id === undefined ? readNumber(text) : undefined;
  const part = NUMBER.test(text) ? text.replaceAll(/\D/g, '').replace(/^0+/, '') : '';
  return {
    id,
    digits: number === undefined ? (part.length < FEWEST_DIGITS ? undefined : part) : String(number),
    isWholeNumber: number !== undefined,
    inName: `(^|[\\W_])${text
      .normalize('NFC')
      .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll(/\s+/g, SPACE)}`,
  };
}

/** One record read from text: its fields and where the next one begins, or why it could not be read. */
export type Split =
  | { kind: 'record'; fields: string[]; end: number }
  /** The text ends before the record does. */
  | { kind: 'open' }
  /** A quote was opened that nothing closes. */
  | { kind: 'broken' };

const QUOTE = '"';

/**
 * Reads the record at `start` of `text`, which has a quote in its first line. A quote inside a quoted field that is
 * neither doubled nor at the field's end is kept as it is, on one line. In a field that runs over several lines it shows
 * that the first quote was never meant to be closed; so does the end of the file.
 * @param newline the character that ends a line, `\n` or `\r`; a `\r` before `\n` is left out
 * @param atEnd whether `text` ends where the file does
 */
export function splitQuoted(text: string, start: number, delimiter: string, newline: string, atEnd: boolean): Split {
  const fields: string[] = [];
  let at = start;
  let line = text.indexOf(newline, start);
  for (;;) {
    if (line !== -1 && line < at) line = text.indexOf(newline, at);
    let open = at;
    while (text[open] === ' ') open += 1;
    if (text[open] !== QUOTE) {
      const comma = text.indexOf(delimiter, at);
      if (comma !== -1 && (line === -1 || comma < line)) {
        fields.push(text.slice(at, comma));
        at = comma + 1;
        continue;
      }
      if (line === -1 && !atEnd) return { kind: 'open' };
      const end = line === -1 ? text.length : line;
      fields.push(text.slice(at, text[end - 1] === '\r' && end > at ? end - 1 : end));
      return { kind: 'record', fields, end: end + 1 };
    }
    const closed = closeQuote(text, open + 1, line, delimiter, newline, atEnd);
    if (typeof closed === 'string') return { kind: closed };
    fields.push(closed.value);
    at = closed.next;
    if (closed.last) return { kind: 'record', fields, end: at };
  }
}

/**
 * Finds the end of the quoted field that begins at `from`: its value, and where the next field or record begins.
 * @param firstLineEnd where the field's first line ends, -1 where the text has no further line
 */
function closeQuote(
  text: string,
  from: number,
  firstLineEnd: number,
  delimiter: string,
  newline: string,
  atEnd: boolean,
): 'open' | 'broken' | { value: string; next: number; last: boolean } {
  let value = '';
  let part = from;
  let at = from;
  for (;;) {
    const quote = text.indexOf(QUOTE, at);
    if (quote === -1) return atEnd ? 'broken' : 'open';
    if (text[quote + 1] === QUOTE) {
      value += text.slice(part, quote + 1);
      part = at = quote + 2;
      continue;
    }
    let after = quote + 1;
    while (text[after] === ' ' || (text[after] === '\r' && newline === '\n')) after += 1;
    if (after >= text.length) {
      if (!atEnd) return 'open';
      return { value: value + text.slice(part, quote), next: text.length + 1, last: true };
    }
    if (text[after] === delimiter || text[after] === newline) {
      return { value: value + text.slice(part, quote), next: after + 1, last: text[after] === newline };
    }
    if (firstLineEnd !== -1 && firstLineEnd < quote) return 'broken';
    at = quote + 1;
  }
}

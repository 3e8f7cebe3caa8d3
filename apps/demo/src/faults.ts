/** A row that can't be called, as the error report has it. */
export interface Fault {
  row: string;
  column: string;
  value: string;
  reason: string;
}

/** The fields of a CSV text (RFC 4180), record by record. */
function* records(text: string): Generator<string[]> {
  let fields: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    if (end === '' && fields.length === 0 && !quoted && !plain) return;
    fields.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === ',') continue;
    yield fields;
    fields = [];
  }
}

/** Reads an error report: a header, then row, column, value, code and reason. Duplicates are called once, so they are left out. */
export function readFaults(report: string): Fault[] {
  const [, ...rows] = records(report);
  const faulty = rows.filter(([, , , code]) => code !== 'duplicate');
  return faulty.map(([row = '', column = '', value = '', , reason = '']) => ({
    row,
    column,
    // The report keeps spreadsheets from running a cell as a formula by an apostrophe.
    value: value.replace(/^'(?=[=+\-@\t\r])/, ''),
    reason,
  }));
}

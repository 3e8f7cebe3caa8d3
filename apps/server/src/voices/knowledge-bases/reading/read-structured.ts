import Papa from 'papaparse';
import { DocumentFault } from './document-fault.ts';
import { isHeader } from './text-type.ts';

const DEEPEST = 100;

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

/** A CSV file as text: a paragraph a row, each value after the name of its column where the first row has names. */
export function readCsv(text: string): string {
  const { data } = Papa.parse<string[]>(text.trim(), { skipEmptyLines: true });
  const [first = [], ...rest] = data;
  const named = isHeader(first);
  const names = named ? first.map(oneLine) : [];
  return (named ? rest : data).map((row) => rowText(row, names)).join('\n\n');
}

const rowText = (row: readonly string[], names: readonly string[]): string =>
  row
    .map(oneLine)
    .flatMap((value, at) => (value === '' ? [] : names[at] ? `${names[at]}: ${value}` : value))
    .join('; ');

/** A JSON file as text: a line a value, after the names that lead to it; elements of a list are paragraphs. */
export function readJson(text: string): string {
  const lines: string[] = [];
  const visit = (value: unknown, path: readonly string[], depth: number): void => {
    if (depth > DEEPEST) throw new DocumentFault(`The file nests more than ${DEEPEST} levels deep.`, 'json');
    if (Array.isArray(value)) {
      for (const element of value) {
        visit(element, path, depth + 1);
        if (typeof element === 'object' && lines.at(-1) !== '') lines.push('');
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, child] of Object.entries(value)) visit(child, [...path, name], depth + 1);
    } else if (value !== null && value !== '') {
      const label = path.join(' ');
      lines.push(label === '' ? String(value) : `${label}: ${String(value)}`);
    }
  };
  visit(JSON.parse(text), [], 0);
  return lines.join('\n');
}

import { tableLines } from './table.ts';
import { pad, plain, visible, wrap } from './text.ts';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isRows = (value: unknown): value is Fields[] => Array.isArray(value) && value.length > 0 && value.every(isFields);

const LONGEST_KEY = 22;

/** The lines of one thing: a field a line, what it holds of things indented, and its lists of things as tables. */
export function recordLines(record: Fields, limit?: number, indent = ''): string[] {
  const known = Object.entries(record).filter(([, value]) => value !== undefined && value !== null);
  const keyWidth = Math.min(LONGEST_KEY, Math.max(0, ...known.map(([key]) => key.length)));
  const room = limit && limit - indent.length;
  const inner = `${indent}  `;
  return known.flatMap(([name, value]) => {
    const key = visible(name);
    if (isRows(value)) return [`${indent}${key}`, ...rowLines(value, room && room - 2).map((line) => inner + line)];
    if (isFields(value) && Object.keys(value).length > 0)
      return [`${indent}${key}`, ...recordLines(value, limit, inner)];
    const text = plain(value) || '-';
    const line = `${pad(key, keyWidth)}  ${text}`;
    if (!room || line.length <= room) return [indent + line];
    return [`${indent}${key}`, ...wrap(text, room - 4).map((part) => `${inner}  ${part}`)];
  });
}

/** Things of a kind that has no table of its own: their plain fields. */
function rowLines(rows: readonly Fields[], limit: number | undefined): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const flat = names.filter((name) => rows.every((row) => !isFields(row[name])));
  return tableLines(
    rows,
    flat.map((name) => [name, (row: Fields) => row[name]] as const),
    limit,
  );
}

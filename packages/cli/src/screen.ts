import { styleText } from 'node:util';
import { columnsOf, hasColor, type Io } from './io.ts';
import { recordLines } from './record.ts';
import { type Column, tableLines } from './table.ts';
import { count, cut, wrap } from './text.ts';

/** Where results go: in words and tables, or as JSON with `--json`. */
export interface Screen {
  json: boolean;
  /** Things of a kind. `isMore` tells that these are but some, and `total` of how many, if that is known. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], isMore?: boolean, total?: number): void;
  /** One thing. */
  record(value: object): void;
  /** What has happened: a line for people, or its JSON in a line. */
  event(value: object, line: string): void;
  /** A sentence for people; nothing with `--json`. */
  say(text: string): void;
  /** A short table for people, below a heading, that cuts no text of its last column; nothing with `--json`. */
  section<Row>(heading: string, rows: readonly Row[], columns: readonly Column<Row>[]): void;
  /** Says on a terminal what goes on, until the next line takes its place. */
  progress(text: string): void;
  /** Takes that away. */
  clear(): void;
}

const CLEAR_LINE = '\r\u001b[2K';

/** The screen of a program. Results go to standard output, what goes on to standard error. */
export function createScreen(io: Io, json: boolean): Screen {
  const limit = columnsOf(io.stdout);
  const moving = io.stderr.isTTY === true && io.env['TERM'] !== 'dumb';
  const style = (format: 'bold' | 'dim', text: string) =>
    hasColor(io.stdout, io.env) ? styleText(format, text, { validateStream: false }) : text;
  let shown = false;

  const clear = () => {
    if (shown) io.stderr.write(CLEAR_LINE);
    shown = false;
  };
  const print = (...lines: string[]) => {
    clear();
    io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  };
  const table = <Row>(rows: readonly Row[], columns: readonly Column<Row>[], wrapLast = false) => {
    const [header = '', ...lines] = tableLines(rows, columns, limit, wrapLast);
    print(style('dim', header), ...lines);
  };
  return {
    json,
    table(rows, columns, isMore = false, total) {
      if (json) return print(JSON.stringify(rows));
      if (rows.length === 0) return print('None.');
      table(rows, columns);
      const shown =
        total === undefined ? `The first ${count(rows.length)}` : `${count(rows.length)} of ${count(total)}`;
      if (isMore) print(style('dim', `${shown}: --limit N shows more.`));
    },
    record: (value) =>
      print(...(json ? [JSON.stringify(value)] : recordLines(value as Record<string, unknown>, limit))),
    event: (value, line) => print(...(json ? [JSON.stringify(value)] : wrap(line, limit))),
    say: (text) => {
      if (!json) print(...wrap(text, limit));
    },
    section(heading, rows, columns) {
      if (json) return;
      print('', style('bold', heading));
      table(rows, columns, true);
    },
    progress(text) {
      if (!moving) return;
      io.stderr.write(`${CLEAR_LINE}${cut(text, (columnsOf(io.stderr) ?? 80) - 1)}`);
      shown = true;
    },
    clear,
  };
}

const BAR_WIDTH = 20;

/** How much is done, as a bar. Nothing where there is nothing to do yet. */
export function bar(done: number, total: number): string {
  if (total <= 0) return '░'.repeat(BAR_WIDTH);
  const full = Math.floor((Math.min(done, total) / total) * BAR_WIDTH);
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
}

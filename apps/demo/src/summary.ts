import type { Fault } from './faults.ts';
import type { DemoOptions } from './options.ts';
import { count, type Screen } from './screen.ts';

/** What `--json` prints. */
export interface DemoResult {
  /** Rows of the file. */
  contacts: number;
  valid: number;
  invalid: number;
  duplicates: number;
  calls: number;
  /** How the calls ended, the frequent ones first. */
  outcomes: Record<string, number>;
  /** From the campaign's start to the end of its last call. */
  seconds: number;
  callsPerSecond: number;
}

const SHOWN_FAULTS = 5;
const BAR_WIDTH = 30;

/** Calls by outcome, each with its share. */
export function outcomeTable({ calls, outcomes }: DemoResult): string[] {
  const most = Math.max(1, ...Object.values(outcomes));
  return Object.entries(outcomes).map(([outcome, number]) => {
    const bar = '█'.repeat(Math.max(1, Math.round((number / most) * BAR_WIDTH)));
    const share = `${((number / calls) * 100).toFixed(1)} %`;
    return `${outcome.replaceAll('_', ' ').padEnd(16)}${count(number).padStart(8)}${share.padStart(9)}  ${bar}`;
  });
}

const shorten = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

/** The first rows that can't be called, and why. */
export function faultTable(faults: readonly Fault[]): string[] {
  return faults.slice(0, SHOWN_FAULTS).map(({ row, column, value, reason }) => {
    const place = value.trim() === '' ? `${column} is empty` : `${column} "${shorten(value.replace(/\s+/g, ' '), 24)}"`;
    return `row ${row.padStart(6)}  ${place.padEnd(36)}  ${reason}`;
  });
}

export function showFaults(screen: Screen, faults: readonly Fault[], invalid: number, reportFile?: string): void {
  screen.text('');
  screen.text(`  ${screen.bold(`${count(invalid)} ${invalid === 1 ? 'row' : 'rows'} can't be called`)}`);
  for (const line of faultTable(faults)) screen.text(`    ${line}`);
  if (faults.length <= SHOWN_FAULTS) return;
  const left = count(invalid - SHOWN_FAULTS);
  screen.text(screen.dim(`    … and ${left} more${reportFile ? `: all of them in ${reportFile}` : ''}`));
}

export function showResult(screen: Screen, result: DemoResult, { concurrency, shipped }: DemoOptions): void {
  const { calls, seconds, callsPerSecond } = result;
  screen.text('');
  screen.text(`  ${screen.bold('How the calls ended')}`);
  for (const line of outcomeTable(result)) screen.text(`    ${line}`);
  screen.text('');
  screen.text(`    ${screen.bold(`${count(calls)} calls in ${seconds} s: ${callsPerSecond} calls per second`)}`);
  screen.text(screen.dim('    Nobody is called twice here: a retry waits a minute at least (retryPolicy).'));
  screen.text('');
  screen.text(`  ${screen.bold('What to try next')}`);
  const next: [string, string][] = [
    [`npm run demo -- --concurrency ${Math.min(10_000, concurrency * 4)}`, 'more calls at the same time'],
    ...(shipped
      ? [['npm run demo -- --contacts FILE', 'your own CSV file; nobody is really called'] as [string, string]]
      : []),
    ['npm start', 'a server that stays; its docs at http://localhost:8080/docs'],
  ];
  for (const [command, what] of next) screen.text(`    ${command.padEnd(36)}  ${screen.dim(what)}`);
  screen.text('');
}

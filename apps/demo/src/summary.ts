import type { Fault } from './faults.ts';
import type { DemoOptions } from './options.ts';
import { count, type Screen, wrap } from './screen.ts';

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
  /** The file with the sound of a call: callee on the left, agent on the right. */
  recording?: string;
}

const SHOWN_FAULTS = 5;
const WIDEST_BAR = 30;
/** Of the table of faults: the column of the reasons. */
const WHY_AT = 28;
/** What stands before a bar. */
const BEFORE_BAR = 36;
const INDENT = 4;
/** Where commands and what they do stand beside each other. */
const WIDE = 80;

/** Calls by outcome, each with its share, in a width of at least 50. */
export function outcomeTable({ calls, outcomes }: DemoResult, width: number): string[] {
  const barWidth = Math.min(WIDEST_BAR, width - BEFORE_BAR);
  const most = Math.max(1, ...Object.values(outcomes));
  return Object.entries(outcomes).map(([outcome, number]) => {
    const bar = '█'.repeat(Math.max(1, Math.round((number / most) * barWidth)));
    const share = `${((number / calls) * 100).toFixed(1)} %`;
    return `${outcome.replaceAll('_', ' ').padEnd(16)}${count(number).padStart(8)}${share.padStart(9)}  ${bar}`;
  });
}

const shorten = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

/** The first rows that can't be called, and why, in a width of at least 50. */
export function faultTable(faults: readonly Fault[], width: number): string[] {
  const whyWidth = Math.min(47, width - WHY_AT);
  const lines = faults.slice(0, SHOWN_FAULTS).flatMap(({ row, value, reason }) => {
    const cell = shorten(value.trim().replace(/\s+/g, ' '), 18) || '(empty)';
    return wrap(reason, whyWidth).map((part, index) =>
      index === 0 ? `${row.padStart(6)}  ${cell.padEnd(18)}  ${part}` : `${''.padEnd(WHY_AT)}${part}`,
    );
  });
  return [`${'row'.padStart(6)}  ${'value'.padEnd(18)}  why`, ...lines];
}

export function showFaults(screen: Screen, faults: readonly Fault[], reportFile: string | undefined): void {
  const rows = new Set(faults.map(({ row }) => row)).size;
  screen.text('');
  screen.text(`  ${screen.bold(`${count(rows)} ${rows === 1 ? 'row' : 'rows'} can't be called`)}`);
  const [header = '', ...lines] = faultTable(faults, screen.columns - INDENT);
  screen.text(`    ${screen.dim(header)}`);
  for (const line of lines) screen.text(`    ${line}`);
  const more = faults.length - SHOWN_FAULTS;
  if (more > 0) screen.text(screen.dim(`    … and ${count(more)} more${reportFile ? ': all of them in' : ''}`));
  if (more > 0 && reportFile) screen.text(`    ${reportFile}`);
  screen.text('');
}

export function showResult(screen: Screen, result: DemoResult, { concurrency, shipped }: DemoOptions): void {
  const { calls, seconds, callsPerSecond } = result;
  screen.text('');
  screen.text(`  ${screen.bold('How the calls ended')}`);
  for (const line of outcomeTable(result, screen.columns - INDENT)) screen.text(`    ${line}`);
  screen.text('');
  screen.text(`    ${screen.bold(`${count(calls)} calls in ${seconds} s: ${callsPerSecond} calls per second`)}`);
  const once = 'Nobody is called twice here: a retry waits a minute at least (retryPolicy).';
  for (const line of wrap(once, screen.columns - INDENT)) screen.text(screen.dim(`    ${line}`));
  if (result.recording) screen.text(`    One of them, to be heard: ${result.recording}`);
  screen.text('');
  screen.text(`  ${screen.bold('What to try next')}`);
  const next: [string, string][] = [
    [`npm run demo -- --concurrency ${Math.min(10_000, concurrency * 4)}`, 'more calls at the same time'],
    ...(shipped
      ? [['npm run demo -- --contacts FILE', 'your own file; nobody is really called'] as [string, string]]
      : []),
    ...(result.recording ? [] : [['npm run demo -- --sip', 'real SIP and RTP, on this machine'] as [string, string]]),
    ['npm start', 'a server, docs at localhost:8080/docs'],
  ];
  for (const [command, what] of next) {
    const beside = screen.columns >= WIDE;
    screen.text(beside ? `    ${command.padEnd(35)}  ${screen.dim(what)}` : `    ${command}`);
    if (!beside) screen.text(screen.dim(`      ${what}`));
  }
  screen.text('');
}

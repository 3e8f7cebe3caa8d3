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
  /** The file with the sound of a call: callee on the left, agent on the right. */
  recording?: string;
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

/** A text in lines of at most so many characters, where its words allow it. */
function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The first rows that can't be called, and why, in 75 columns. */
export function faultTable(faults: readonly Fault[]): string[] {
  const lines = faults.slice(0, SHOWN_FAULTS).flatMap(({ row, value, reason }) => {
    const cell = shorten(value.trim().replace(/\s+/g, ' '), 18) || '(empty)';
    return wrap(reason, 47).map((part, index) =>
      index === 0 ? `${row.padStart(6)}  ${cell.padEnd(18)}  ${part}` : `${''.padEnd(28)}${part}`,
    );
  });
  return [`${'row'.padStart(6)}  ${'value'.padEnd(18)}  why`, ...lines];
}

export function showFaults(screen: Screen, faults: readonly Fault[], reportFile: string | undefined): void {
  const rows = new Set(faults.map(({ row }) => row)).size;
  screen.text('');
  screen.text(`  ${screen.bold(`${count(rows)} ${rows === 1 ? 'row' : 'rows'} can't be called`)}`);
  const [header = '', ...lines] = faultTable(faults);
  screen.text(`    ${screen.dim(header)}`);
  for (const line of lines) screen.text(`    ${line}`);
  const more = faults.length - SHOWN_FAULTS;
  if (more > 0)
    screen.text(screen.dim(`    … and ${count(more)} more${reportFile ? `: all of them in ${reportFile}` : ''}`));
  screen.text('');
}

export function showResult(screen: Screen, result: DemoResult, { concurrency, shipped }: DemoOptions): void {
  const { calls, seconds, callsPerSecond } = result;
  screen.text('');
  screen.text(`  ${screen.bold('How the calls ended')}`);
  for (const line of outcomeTable(result)) screen.text(`    ${line}`);
  screen.text('');
  screen.text(`    ${screen.bold(`${count(calls)} calls in ${seconds} s: ${callsPerSecond} calls per second`)}`);
  screen.text(screen.dim('    Nobody is called twice here: a retry waits a minute at least (retryPolicy).'));
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
  for (const [command, what] of next) screen.text(`    ${command.padEnd(35)}  ${screen.dim(what)}`);
  screen.text('');
}

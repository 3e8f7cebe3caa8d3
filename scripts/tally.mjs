import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './process.mjs';

const print = (text) => void process.stdout.write(`${text}\n`);

/** Counts checks and tests, prints a line for each finished step, and at the end what failed and what was left out. */
export function createTally() {
  let passed = 0;
  let failed = [];
  const leftOut = new Set();
  /** What failed beside others and passed alone. */
  const late = [];

  /** Begins a step; `end` and `endTests` print how it went, and its output where it failed. */
  const start = (name) => {
    const since = performance.now();
    const line = (mark, rest, output) => {
      if (output) print(output.trimEnd());
      print(`${mark} ${name}${rest} (${((performance.now() - since) / 1000).toFixed(1)} s)`);
    };
    const end = (ok, output) => {
      if (ok) passed += 1;
      else failed.push(name);
      line(ok ? '✓' : '✗', '', ok ? '' : output);
    };
    /** Returns the files of which a test failed. */
    const endTests = (report, ended, { tellsLeftOut = true } = {}) => {
      const counts = countsOf(report, ended);
      passed += counts.passed;
      failed.push(...counts.failed.map((each) => `${name}: ${each}`));
      if (tellsLeftOut) for (const each of counts.leftOut) leftOut.add(each);
      const rest = counts.failed.length
        ? `: ${counts.passed} passed, ${counts.failed.length} failed`
        : `: ${counts.passed}`;
      line(ended.code === 0 ? '✓' : '✗', rest, ended.code === 0 ? '' : ended.output);
      return counts.failedFiles;
    };
    /** Ends a second run, alone, of the files that had failed: what passes now has passed, and is told. */
    const endAgain = (report, ended) => {
      const { failed: found, hasPassed } = countsOf(report, ended);
      const still = found.map((each) => `${name}: ${each}`);
      const first = failed.filter((each) => each.startsWith(`${name}: `));
      const mended = first.filter((each) => hasPassed(each.slice(`${name}: `.length)));
      late.push(...mended);
      passed += mended.length;
      failed = [...new Set([...failed, ...still])].filter((each) => !mended.includes(each));
      line(ended.code === 0 ? '✓' : '✗', ', alone', ended.code === 0 ? '' : ended.output);
    };
    return { end, endTests, endAgain };
  };

  /** Ends it all. Returns the exit code. */
  const report = () => {
    print('');
    for (const each of leftOut) print(`left out: ${each}`);
    for (const each of late) print(`failed beside others, passed alone: ${each}`);
    for (const each of failed) print(`failed: ${each}`);
    if (passed + failed.length === 0) print('No test was run: no path of a test file holds what was asked for.');
    print(`${passed} passed, ${failed.length} failed`);
    return failed.length === 0 && passed > 0 ? 0 : 1;
  };

  return { start, report, leaveOut: (what) => leftOut.add(what) };
}

/** Where a run of tests says what went wrong outside of them (outside-errors.mjs). */
export const outsideOf = (report) => `${report}.outside`;

/** Reads the report of a run of tests, which may have ended before it wrote one. */
function countsOf(report, { code }) {
  const none = { passed: 0, failed: [], failedFiles: [], leftOut: [], hasPassed: () => false };
  const counts = existsSync(report) ? readReport(report) : none;
  const outside = existsSync(outsideOf(report)) ? readFileSync(outsideOf(report), 'utf8') : '';
  if (outside !== '' || (code !== 0 && counts.failed.length === 0))
    counts.failed.push(`the run ended with an error outside its tests${outside && `: ${outside}`}`);
  return counts;
}

/** Reads vitest's JSON report: how many tests passed, the names of those that failed, and what was skipped. */
function readReport(file) {
  const counts = { passed: 0, failed: [], failedFiles: [], leftOut: [] };
  const [passed, skipped, whole] = [new Set(), new Set(), []];
  for (const { name, status, assertionResults, message } of JSON.parse(readFileSync(file, 'utf8')).testResults) {
    const at = path.relative(root, name);
    const before = counts.failed.length;
    for (const test of assertionResults) {
      const told = `${at}: ${test.fullName}`;
      if (test.status === 'failed') counts.failed.push(told);
      else if (test.status === 'passed') {
        counts.passed += 1;
        passed.add(told);
      } else {
        skipped.add(told);
        counts.leftOut.push(test.ancestorTitles.find((title) => title !== '') ?? test.fullName);
      }
    }
    // A file that can't be loaded has no test to count.
    if (status === 'failed' && counts.failed.length === before) counts.failed.push(`${at}: ${message.split('\n')[0]}`);
    if (counts.failed.length > before) counts.failedFiles.push(name);
    else whole.push(`${at}: `);
  }
  /** Whether a test has passed, or a file that could not be loaded once. */
  const hasPassed = (told) => passed.has(told) || (!skipped.has(told) && whole.some((file) => told.startsWith(file)));
  return { ...counts, hasPassed };
}

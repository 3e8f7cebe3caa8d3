import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './process.mjs';

const print = (text) => void process.stdout.write(`${text}\n`);

/** Counts checks and tests, prints a line for each finished step, and at the end what failed and what was left out. */
export function createTally() {
  let passed = 0;
  const failed = [];
  const leftOut = new Set();

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
    const endTests = (report, { code, output }, { tellsLeftOut = true } = {}) => {
      const counts = existsSync(report) ? readReport(report) : { passed: 0, failed: [], leftOut: [] };
      if (code !== 0 && counts.failed.length === 0) counts.failed.push('the run ended with an error outside its tests');
      passed += counts.passed;
      failed.push(...counts.failed.map((each) => `${name}: ${each}`));
      if (tellsLeftOut) for (const each of counts.leftOut) leftOut.add(each);
      const rest = counts.failed.length
        ? `: ${counts.passed} passed, ${counts.failed.length} failed`
        : `: ${counts.passed}`;
      line(code === 0 ? '✓' : '✗', rest, code === 0 ? '' : output);
    };
    return { end, endTests };
  };

  /** Ends it all. Returns the exit code. */
  const report = () => {
    print('');
    for (const each of leftOut) print(`left out: ${each}`);
    for (const each of failed) print(`failed: ${each}`);
    if (passed + failed.length === 0) print('No test was run: no path of a test file holds what was asked for.');
    print(`${passed} passed, ${failed.length} failed`);
    return failed.length === 0 && passed > 0 ? 0 : 1;
  };

  return { start, report, leaveOut: (what) => leftOut.add(what) };
}

/** Reads vitest's JSON report: how many tests passed, the names of those that failed, and what was skipped. */
function readReport(file) {
  const counts = { passed: 0, failed: [], leftOut: [] };
  for (const { name, status, assertionResults, message } of JSON.parse(readFileSync(file, 'utf8')).testResults) {
    const at = path.relative(root, name);
    const before = counts.failed.length;
    for (const test of assertionResults) {
      if (test.status === 'passed') counts.passed += 1;
      else if (test.status === 'failed') counts.failed.push(`${at}: ${test.fullName}`);
      else counts.leftOut.push(test.ancestorTitles.find((title) => title !== '') ?? test.fullName);
    }
    // A file that can't be loaded has no test to count.
    if (status === 'failed' && counts.failed.length === before) counts.failed.push(`${at}: ${message.split('\n')[0]}`);
  }
  return counts;
}

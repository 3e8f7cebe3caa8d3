import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = path.join(import.meta.dirname, '../../../..');

/** The tests of one file, by name, as vitest reports them. */
type Tests = Record<string, 'passed' | 'failed' | 'skipped'>;

/** What `npm test` says at its end of a run of one file, and of a second one alone: its last lines and its exit code. */
function endOf(first: Tests, again: Tests | undefined, outside?: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-tally-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const reportOf = (name: string, tests: Tests) => {
    const results = Object.entries(tests).map(([fullName, status]) => ({ fullName, status, ancestorTitles: [] }));
    const file = {
      name: path.join(root, 'a.test.ts'),
      status: results.some((each) => each.status === 'failed') ? 'failed' : 'passed',
      message: '',
      assertionResults: results,
    };
    writeFileSync(path.join(folder, name), JSON.stringify({ testResults: [file] }));
  };
  reportOf('first', first);
  if (outside) writeFileSync(path.join(folder, 'first.outside'), outside);
  if (again) reportOf('again', again);
  const codeOf = (tests: Tests | undefined) => (tests && !Object.values(tests).includes('failed') ? 0 : 1);
  const script = `import { createTally } from ${JSON.stringify(path.join(root, 'scripts/tally.mjs'))};
    const tally = createTally();
    const files = tally.start('tests').endTests(${JSON.stringify(path.join(folder, 'first'))}, { code: 1, output: '' });
    if (files.length !== 1) throw new Error('not one file');
    tally.start('tests').endAgain(${JSON.stringify(path.join(folder, 'again'))}, { code: ${codeOf(again)}, output: '' });
    console.log(tally.report());`;
  const lines = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  return lines.trimEnd().split('\n\n').at(-1)!.split('\n');
}

test('what fails beside others and passes alone has passed, and is told', () => {
  expect(endOf({ one: 'failed', two: 'passed' }, { one: 'passed', two: 'passed' })).toEqual([
    'failed beside others, passed alone: tests: a.test.ts: one',
    '2 passed, 0 failed',
    '0',
  ]);
});

test('what fails again has failed, also if it passed at first', () => {
  expect(endOf({ one: 'failed', two: 'passed' }, { one: 'failed', two: 'passed' })).toEqual([
    'failed: tests: a.test.ts: one',
    '1 passed, 1 failed',
    '1',
  ]);
  expect(endOf({ one: 'failed', two: 'passed' }, { one: 'passed', two: 'failed' })).toEqual([
    'failed beside others, passed alone: tests: a.test.ts: one',
    'failed: tests: a.test.ts: two',
    '2 passed, 1 failed',
    '1',
  ]);
});

test('a second run that ends before its tests has mended nothing', () => {
  expect(endOf({ one: 'failed' }, undefined).slice(-2)).toEqual(['0 passed, 2 failed', '1']);
});

test('what is left out the second time has not passed, nor has what was thrown outside of all tests', () => {
  expect(endOf({ one: 'failed', two: 'passed' }, { one: 'skipped', two: 'passed' })).toContain('1 passed, 1 failed');
  expect(endOf({ one: 'failed' }, { one: 'passed' }, 'boom')).toEqual([
    'failed beside others, passed alone: tests: a.test.ts: one',
    'failed: tests: the run ended with an error outside its tests: boom',
    '1 passed, 1 failed',
    '1',
  ]);
});

// `npm run mutate -- FILE`: changes one line of a source at a time, in a copy, and shows the changes that no test notices.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { copySources, runsIn, serverFolder } from '../chaos/mutants/mutate.ts';
import { type Mutation, mutationsOf } from './mutations.ts';

const USAGE = `npm run mutate -- FILE [--tests A,B] [--lines FROM-TO]

Changes a line of FILE at a time in a copy of its package, and runs its tests: a comparison turned, a condition never met, a
predicate, a call or an assignment left out. A change that all tests pass with is shown: it does nothing, or nothing tests it.

  FILE      A source of a package, from the root of the repository: apps/server/src/dialing/calls/place-calls.ts.
  --tests   Files or folders with the tests, below the package. By default those beside FILE, and the folder of test/ that is
            named as its own; all of test/ where there is none.
  --lines   Only these lines.
`;

const repository = path.resolve(serverFolder, '../..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tests: { type: 'string' }, lines: { type: 'string' }, help: { type: 'boolean', default: false } },
});
const [given] = positionals;
const found = /^((?:apps|packages)\/[^/]+)\/src\/(.+\.ts)$/.exec(given ?? '');
const isThere = found && existsSync(path.join(repository, given!));
const [, from = 1, to = Number.POSITIVE_INFINITY] = (/^(\d+)-(\d+)$/.exec(values.lines ?? '') ?? []).map(Number);
if (values.help || !isThere || (values.lines !== undefined && !/^\d+-\d+$/.test(values.lines))) {
  const fault = isThere ? '--lines is such as 10-20.' : `There is no source ${given ?? ''} of a package.`;
  process.stdout.write(values.help ? USAGE : `${fault}\n\n${USAGE}`);
  process.exit(values.help ? 0 : 2);
}

const [, folder, name] = found as unknown as [string, string, string];
const original = path.join(repository, folder);
const tests = values.tests?.split(',') ?? testsOf(name);
const source = await readFile(path.join(original, 'src', name), 'utf8');
const mutations = mutationsOf(source).filter(({ line }) => line >= from && line <= to);
const copy = await copySources(original);
const { run } = runsIn(copy);
const lives: Mutation[] = [];
try {
  if (!(await passes())) throw new Error(`The tests fail without any change: ${tests.join(', ')}`);
  for (const [at, mutation] of mutations.entries()) {
    if (process.stderr.isTTY) process.stderr.write(`\r${at + 1} of ${mutations.length}, ${lives.length} unnoticed `);
    await copy.write(name, mutation.source);
    const isUnnoticed = await passes();
    if (!isUnnoticed) continue;
    lives.push(mutation);
    process.stdout.write(`${process.stderr.isTTY ? '\r' : ''}unnoticed  ${given}:${mutation.line}  ${mutation.what}\n`);
  }
  process.stdout.write(
    `${lives.length} of ${mutations.length} changes are noticed by no test of ${tests.join(', ')}.\n`,
  );
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
} finally {
  await copy.remove();
}
if (lives.length > 0) process.exitCode = 1;

/** The tests beside a source, and those in the folder of `test` that mirrors its own. */
function testsOf(file: string): string[] {
  const own = path.dirname(file);
  const beside = path.join('src', file.replace(/\.ts$/, '.test.ts'));
  const mirrored = path.join('test', own);
  const isMirrored = own !== '.' && existsSync(path.join(original, mirrored));
  return [...(existsSync(path.join(original, beside)) ? [beside] : []), isMirrored ? mirrored : 'test'];
}

/** Whether the tests pass in the copy as it is. */
async function passes(): Promise<boolean> {
  const vitest = path.join(copy.folder, 'node_modules/.bin/vitest');
  const { code } = await run(vitest, ['run', '--bail=1', ...tests]);
  return code === 0;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { workspacePackages } from './packages.mjs';
import { startOldestPostgres } from './postgres.mjs';
import { node, root, runQuietly, runStep } from './process.mjs';
import { createTally, outsideOf } from './tally.mjs';

/** Static checks, in this order; each package that has a script of this name is one check. */
const scripts = ['lint', 'typecheck', 'drift'];

/** This package's tests are most of the suite: they begin first, the rest runs beside them, and they show how far they are. */
const longest = 'apps/server';

/** The tests whose result hangs on how PostgreSQL locks, plans and orders: they run on the oldest version too. */
const onOldestPostgres = [
  'test/foundation/database/migrate',
  'test/foundation/database/plans',
  'test/foundation/database/tenancy',
  'test/foundation/database/transactions',
  'test/repository.test',
  'test/dialing/campaigns/moves',
];

/** More files that fail are no machine that was late, and one after another they would take too long. */
const MOST_AGAIN = 4;

/**
 * Checks everything: lint, the contract, types, generated files, tests. Given words, runs only the test files whose
 * path holds one of them. Resolves to an exit code.
 */
export async function check(words) {
  const tally = createTally();
  const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-check-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const packages = workspacePackages();
  const withTests = packages.filter((each) => each.scripts.test);
  const again = [];
  const suite = async (each) => {
    again.push({ each, files: await testPackage(each, words, folder, tally) });
  };

  const jobs = withTests
    .toSorted(demoFirst)
    .filter(({ folder }) => folder !== longest)
    .map((each) => () => suite(each));
  // What takes longest begins first.
  if (words.length === 0) jobs.unshift(() => testOnOldestPostgres(folder, tally));
  if (words.length === 0) jobs.push(...staticChecks(packages, tally));
  // All wait for calls, for the registry and for each other's ends as much as they compute.
  await Promise.all([...withTests.filter(({ folder }) => folder === longest).map(suite), twoAtATime(jobs)]);
  // A machine that is late makes tests fail that run beside others. What fails alone, with nothing beside it, is wrong.
  const count = again.reduce((sum, { files }) => sum + files.length, 0);
  if (words.length === 0 && count <= MOST_AGAIN) {
    for (const { each, files } of again) if (files.length > 0) await testAgain(each, files, folder, tally);
  }
  return tally.report();
}

const demoFirst = (a, b) => Number(b.folder === 'apps/demo') - Number(a.folder === 'apps/demo');

function staticChecks(packages, tally) {
  const commands = [
    { name: 'style and lint', command: 'biome', args: ['check', '--error-on-warnings', '.'], cwd: root },
  ];
  for (const script of scripts) {
    for (const { folder, scripts: has } of packages) {
      if (!has[script]) continue;
      commands.push({
        name: `${script} ${folder}`,
        command: node,
        args: ['--run', script],
        cwd: path.join(root, folder),
      });
    }
  }
  return commands.map(({ name, command, args, cwd }) => async () => {
    const timer = tally.start(name);
    const { code, output } = await runQuietly(command, args, { cwd });
    timer.end(code === 0, output);
  });
}

async function testPackage({ folder }, words, reports, tally) {
  const report = path.join(reports, `${folder.replaceAll(path.sep, '-')}.json`);
  const timer = tally.start(`tests ${folder}`);
  const run = folder === longest ? runStep : runQuietly;
  const env = { TEST_OUTSIDE: outsideOf(report), ...(words.length === 0 && statusesIn(reports)) };
  const options = { cwd: path.join(root, folder), env };
  return timer.endTests(report, await run(node, testArguments(report, words), options));
}

/** Runs files of a package once more, one after another. */
async function testAgain({ folder }, files, reports, tally) {
  const report = path.join(reports, `${folder.replaceAll(path.sep, '-')}-again.json`);
  const cwd = path.join(root, folder);
  const args = testArguments(report, ['--maxWorkers=1', ...files.map((file) => path.relative(cwd, file))]);
  const timer = tally.start(`tests ${folder}`);
  timer.endAgain(
    report,
    await runQuietly(node, args, { cwd, env: { TEST_OUTSIDE: outsideOf(report), ...statusesIn(reports) } }),
  );
}

/** Where the tests of a whole run note which statuses of the contract they have seen, for those that run again too. */
const statusesIn = (reports) => ({ TEST_STATUSES: path.join(reports, 'statuses') });

const testArguments = (report, more) => {
  const outside = path.join(root, 'scripts/outside-errors.mjs');
  const reporters = ['default', 'json', outside].map((name) => `--reporter=${name}`);
  reporters.push(`--outputFile.json=${report}`, '--silent=passed-only');
  return ['--run', 'test', '--', '--passWithNoTests', ...reporters, ...more];
};

async function testOnOldestPostgres(reports, tally) {
  const postgres = await startOldestPostgres();
  if (!postgres) return tally.leaveOut('PostgreSQL 15 (not installed): all tests ran on the embedded version only');
  const report = path.join(reports, 'oldest-postgres.json');
  const timer = tally.start(`tests ${longest} on PostgreSQL 15`);
  const options = {
    cwd: path.join(root, longest),
    env: { TEST_DATABASE_URL: postgres.url, TEST_OUTSIDE: outsideOf(report) },
  };
  const args = testArguments(report, ['--maxWorkers=1', ...onOldestPostgres]);
  timer.endTests(report, await runQuietly(node, args, options), {
    // What is skipped there has run on the embedded version.
    tellsLeftOut: false,
  });
  postgres.stop();
}

async function twoAtATime(jobs) {
  const queue = jobs.values();
  const worker = async () => {
    for (const job of queue) await job();
  };
  await Promise.all([worker(), worker()]);
}

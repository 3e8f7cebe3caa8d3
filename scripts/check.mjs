import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { workspacePackages } from './packages.mjs';
import { startOldestPostgres } from './postgres.mjs';
import { node, root, runQuietly, runStep } from './process.mjs';
import { createTally } from './tally.mjs';

/** Static checks, in this order; each package that has a script of this name is one check. */
const scripts = ['lint', 'typecheck', 'drift'];

/** This package's tests are most of the suite: they have the machine to themselves, and show how far they are. */
const longest = 'apps/server';

/** The tests whose result hangs on how PostgreSQL locks and orders: they run on the oldest version too. */
const onOldestPostgres = ['test/database', 'test/campaigns', 'test/dialing', 'test/calls', 'test/repository'];

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
  const suite = (each) => testPackage(each, words, folder, tally);

  const jobs = words.length > 0 ? [] : staticChecks(packages, tally);
  for (const each of withTests) if (each.folder !== longest) jobs.push(() => suite(each));
  await twoAtATime(jobs);
  for (const each of withTests) if (each.folder === longest) await suite(each);
  if (words.length === 0) await testOnOldestPostgres(folder, tally);
  return tally.report();
}

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

async function testPackage({ folder, name = folder }, words, reports, tally, env = {}) {
  const report = path.join(reports, `${name.replace(/\W+/g, '-')}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, '--silent=passed-only'];
  const args = ['--run', 'test', '--', '--passWithNoTests', ...reporters, ...words];
  const timer = tally.start(`tests ${name}`);
  const options = { cwd: path.join(root, folder), env };
  if (folder === longest) timer.endTests(report, { code: await runStep(node, args, options), output: '' });
  else timer.endTests(report, await runQuietly(node, args, options));
}

async function testOnOldestPostgres(reports, tally) {
  const postgres = await startOldestPostgres();
  if (!postgres) return tally.leaveOut('PostgreSQL 15 (not installed): all tests ran on the embedded version only');
  try {
    const suite = { folder: longest, name: `${longest} on PostgreSQL 15` };
    await testPackage(suite, onOldestPostgres, reports, tally, { TEST_DATABASE_URL: postgres.url });
  } finally {
    postgres.stop();
  }
}

async function twoAtATime(jobs) {
  const queue = jobs.values();
  const worker = async () => {
    for (const job of queue) await job();
  };
  await Promise.all([worker(), worker()]);
}

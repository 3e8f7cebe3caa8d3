// `npm run chaos -- --mutants`: bugs of one line are planted in a copy of the sources, and the suite or the laws of chaos
// must find each of them.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, mutants } from './mutants.ts';
import { type Copy, copySources, runsIn } from './mutate.ts';

const USAGE = `npm run chaos -- --mutants [--only A,B] [--seeds N] [--minutes M] [--by suite|chaos]

  --only     These bugs: all by default. ${mutants.length} there are:
             ${mutants.map(({ name }) => name).join('\n             ')}
  --seeds    What the suite doesn't find has so many runs of chaos to be found in: 10 by default.
  --minutes  How long each of these is: 2 by default.
  --by       By the suite alone, or by chaos alone; by default by chaos where the suite finds nothing.
`;

/** What became of a bug. */
interface Verdict {
  mutant: string;
  foundBy: string | undefined;
}

const { values } = parseArgs({
  options: {
    mutants: { type: 'boolean' },
    only: { type: 'string', default: mutants.map(({ name }) => name).join(',') },
    seeds: { type: 'string', default: '10' },
    minutes: { type: 'string', default: '2' },
    by: { type: 'string', default: 'suite,chaos' },
    help: { type: 'boolean', default: false },
  },
});
const names = values.only.split(',');
const unknown = names.find((name) => !mutants.some((mutant) => mutant.name === name));
if (values.help || unknown !== undefined) {
  process.stdout.write(unknown === undefined ? USAGE : `There is no bug ${unknown}.\n\n${USAGE}`);
  process.exit(values.help ? 0 : 2);
}
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1);
const print = (line: string) => void process.stdout.write(`${line}\n`);

/** @returns the test that fails first, if one does */
async function foundBySuite(copy: Copy, tests: readonly string[]): Promise<string | undefined> {
  const vitest = path.join(copy.folder, 'node_modules/.bin/vitest');
  const { code, output } = await run(vitest, ['run', '--bail=1', '--no-color', ...tests]);
  if (code === 0) return undefined;
  const [, test] = output.match(/^ FAIL +(.*)$/m) ?? [];
  if (!test) throw new Error(`The tests ${tests.join(', ')} did not run:\n${output}`);
  return `the suite: ${test.replace(/^\|?\w+\|? +/, '')}`;
}

/** @returns the law that a run of chaos finds broken, if it does */
async function foundByChaos(copy: Copy, seed: number): Promise<string | undefined> {
  const entry = path.join(copy.folder, 'test/chaos/run.ts');
  const args = ['--conditions=source', entry, '--seed', String(seed), '--minutes', values.minutes, '--loss', 'none'];
  const { code, output } = await run(process.execPath, args);
  const [, law] = output.match(/^Broken: (.*?), \d+ times$/m) ?? [];
  if (code !== 0 && !law) throw new Error(`Chaos with the seed ${seed} did not come to an end:\n${output}`);
  return law && `chaos, seed ${seed}: ${law}`;
}

/** Looks for a bug; without one, whether there is an alarm all the same. */
async function find(copy: Copy, mutant: Mutant | undefined, tests: readonly string[]): Promise<string | undefined> {
  await copy.plant(mutant);
  const bySuite = values.by.includes('suite') && tests.length > 0 ? await foundBySuite(copy, tests) : undefined;
  if (bySuite || !values.by.includes('chaos')) return bySuite;
  for (const seed of mutant ? seeds : alarmed) {
    const law = await foundByChaos(copy, seed);
    if (law && mutant) alarmed.add(seed);
    if (law) return law;
  }
  return undefined;
}

/** The seeds that have found something: these must find nothing where nothing is wrong. */
const alarmed = new Set<number>();
const verdicts: Verdict[] = [];
const copy = await copySources();
const { run, isStopped } = runsIn(copy);
let alarm: string | undefined;
try {
  const chosen = mutants.filter(({ name }) => names.includes(name));
  for (const mutant of chosen) {
    const foundBy = await find(copy, mutant, mutant.tests);
    verdicts.push({ mutant: mutant.name, foundBy });
    print(`${foundBy ? 'found' : 'LIVES'}  ${mutant.name.padEnd(45)} ${foundBy ?? ''}`);
  }
  const tests = [...new Set(chosen.flatMap((mutant) => mutant.tests))];
  alarm = await find(copy, undefined, tests);
} catch (error) {
  print(isStopped() ? 'Stopped.' : String(error));
  process.exitCode = 1;
} finally {
  await copy.remove();
}
const lives = verdicts.filter(({ foundBy }) => foundBy === undefined).map(({ mutant }) => mutant);
print(`\n${verdicts.length - lives.length} of ${verdicts.length} bugs were found.`);
if (lives.length > 0) print(`These live: ${lives.join(', ')}`);
if (!isStopped()) print(alarm ? `An alarm without a bug: ${alarm}` : 'No alarm without a bug.');
if (lives.length > 0 || alarm) process.exitCode = 1;

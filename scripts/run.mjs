// What `npm run demo`, `npm run trunkline`, `npm start`, `npm test`, `npm run chaos`, `npm run mutate`, `npm run bench`,
// `npm run generate` and `npm run deploy` call. It runs on the Node that the machine has (20 or newer) and installs what is
// missing, the pinned Node among it; all else runs on that one.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { prepareConsole, prepareContract, prepareInstall } from './prepare.mjs';
import { node, root, runToTheEnd } from './process.mjs';

/** As in the first line of the server's main.ts: a small young generation, or what starting up left behind stays, 50 MB. */
const serverFlags = ['--conditions=source', '--max-semi-space-size=8'];

const source = (file, ...args) => [node, ['--conditions=source', path.join(root, file), ...args]];

const tasks = {
  // A path in the arguments is meant from where the person stands; npm goes to the repository's folder.
  demo: (args) => runToTheEnd(...source('apps/demo/src/main.ts', ...args), { cwd: whereThePersonStands() }),
  trunkline: (args) => runToTheEnd(...source('packages/cli/src/bin.ts', ...args), { cwd: whereThePersonStands() }),
  start: (args) =>
    runToTheEnd(node, [
      ...serverFlags,
      path.join(root, 'apps/server/src/main.ts'),
      ...(args.length ? args : ['serve']),
    ]),
  chaos: (args) => {
    const file = args.includes('--mutants') ? 'mutants/run-mutants.ts' : 'run.ts';
    return runToTheEnd(...source(`apps/server/test/chaos/${file}`, ...args));
  },
  mutate: (args) => runToTheEnd(...source('apps/server/test/mutate/run.ts', ...args)),
  bench: (args) => runToTheEnd(...source('bench/run.ts', ...args)),
  test: async (args) => (await import('./check.mjs')).check(args),
  generate: async () => (await import('./generate.mjs')).generate(),
  deploy: async (args) => (await import('./deploy.mjs')).deploy(args),
};

const whereThePersonStands = () =>
  (['demo', 'trunkline'].includes(process.env.npm_lifecycle_event) && process.env.INIT_CWD) || process.cwd();

const [name, ...args] = process.argv.slice(2);
const task = tasks[name];
try {
  if (!task) throw new Error(`Usage: node scripts/run.mjs ${Object.keys(tasks).join('|')} [arguments]`);
  if (!existsSync(path.join(root, 'pnpm-lock.yaml'))) throw new Error(`No pnpm-lock.yaml in ${root}: clone it whole.`);
  await prepareInstall();
  await Promise.all([prepareContract(), prepareConsole()]);
  process.exitCode = await task(args);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

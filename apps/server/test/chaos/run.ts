// `npm run chaos`: a whole installation under load, while everything around it fails in an order that a seed makes.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { chaos } from './chaos.ts';
import { type FaultName, faultNames, lossNames } from './options.ts';

const USAGE = `npm run chaos -- [--seed N] [--minutes M] [--faults A,B] [--servers N] [--loss WAY]

  --seed     Makes the order of the faults; the same one makes it again. By chance by default, and printed.
  --minutes  How long load and faults go on: 2 by default.
  --faults   Which ones: ${faultNames.join(', ')}; all by default.
  --servers  How many servers share the database: 3 by default.
  --loss     How the database loses its last commits when all is at rest: ${lossNames.join(', ')}, or none; by the seed by default.
  --mutants  Plants bugs, and tells which are found: npm run chaos -- --mutants --help
`;

/** How long what was begun may take to end, in seconds: a call whose server is lost is looked up, and then called again. */
const REST_SECONDS = 180;
/** The most breaches of a law that are shown. */
const MOST_SHOWN = 10;

function readOptions() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      minutes: { type: 'string', default: '2' },
      faults: { type: 'string', default: faultNames.join(',') },
      servers: { type: 'string', default: '3' },
      loss: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const [seed, minutes, servers] = [Number(values.seed), Number(values.minutes), Number(values.servers)];
  const faults = values.faults.split(',') as FaultName[];
  const loss = lossNames.find((name) => name === (values.loss ?? lossNames[seed % lossNames.length]));
  const isWrong = !(seed >= 0 && minutes > 0 && servers > 0) || faults.some((name) => !faultNames.includes(name));
  const isKnown = loss !== undefined || values.loss === 'none';
  if (!values.help && !isWrong && isKnown) return { seed, minutes, servers, faults, loss };
  process.stdout.write(USAGE);
  process.exit(values.help ? 0 : 2);
}

const { seed, minutes, servers, faults, loss } = readOptions();
const again = `npm run chaos -- --seed ${seed} --minutes ${minutes} --servers ${servers} --faults ${faults.join(',')} --loss ${loss ?? 'none'}`;
const print = (line: string) => void process.stdout.write(`${line}\n`);
print(`Chaos with the seed ${seed}. The same order again: ${again}`);
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interrupted.abort(signal));
const { broken, log } = await chaos(
  {
    ...{ seed, servers, faults, loss, load: 1, seconds: minutes * 60, restSeconds: REST_SECONDS },
    tell: (line) => print(`  ${line}`),
  },
  interrupted.signal,
).catch((error) => {
  print(interrupted.signal.aborted ? 'Stopped. Nothing is left running.' : String(error?.stack ?? error));
  process.exit(1);
});
for (const { law, breaches } of broken) {
  print(`\nBroken: ${law}, ${breaches.length} times`);
  for (const breach of breaches.slice(0, MOST_SHOWN)) print(`  ${breach}`);
}
if (broken.length === 0) print('Every law holds.');
else {
  const file = path.join(tmpdir(), `trunkline-chaos-${seed}.log`);
  writeFileSync(file, log);
  print(`\nWhat the servers said is in ${file}. Again: ${again}`);
}
process.exit(broken.length === 0 ? 0 : 1);

import { cpus } from 'node:os';
import { end, endOnSignals } from './at-end.ts';
import { currentCommit, isChanged } from './history.ts';
import { measurements } from './measurements.ts';
import { differences, keepResults } from './results.ts';
import type { Effort } from './rounds.ts';
import { type Found, foundTables } from './table.ts';

const asked = process.argv.slice(2);
const effort: Effort = asked.includes('quick') ? 'quick' : 'whole';
/** Rows, where a measurement takes several sizes. */
const sizes = asked.filter((word) => /^\d+$/.test(word)).map(Number);
const wanted = asked.filter((word) => word !== 'quick' && !/^\d+$/.test(word));

const known = Object.keys(measurements);
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no measurement ${unknown.join(', ')}. There are: ${known.join(', ')}; or quick.`);
  process.exit(2);
}

const isWanted = (name: string): boolean => {
  if (wanted.length > 0 && !wanted.includes(name)) return false;
  const { isQuick, isOnDemand } = measurements[name]!;
  return effort === 'quick' ? isQuick === true : wanted.length > 0 || !isOnDemand;
};

endOnSignals();
const machine = `${cpus().length} × ${cpus()[0]!.model}, Node ${process.version}`;
console.error(`On ${machine}.`);
if (effort === 'quick') console.error(`Left out: ${known.filter((name) => !isWanted(name)).join(', ')}.`);
const all: Required<Found> = { rows: [], costs: [] };
for (const name of known.filter(isWanted)) {
  const { measure, measures } = measurements[name]!;
  const origin = { commit: currentCommit(), ...(isChanged(measures) && { isChanged: true as const }) };
  const from = performance.now();
  console.error(`Measuring ${name} …`);
  let found: Found;
  try {
    found = await measure(effort, sizes);
  } finally {
    await end();
  }
  const { rows = [], costs = [] } = found;
  all.rows.push(...rows);
  all.costs.push(...costs);
  console.error(`… took ${Math.round((performance.now() - from) / 1000)} s.`);
  if (effort === 'quick') continue;
  const faults = differences(name, [...rows, ...costs]);
  if (origin.commit === undefined) faults.push('there is no git here');
  if (faults.length > 0) {
    console.error(`What was found is not kept: ${faults.join('; ')}.`);
    process.exitCode = 1;
    continue;
  }
  const date = new Date().toISOString().slice(0, 10);
  keepResults(name, found, { ...origin, commit: origin.commit!, date, machine });
}
console.log(`\n${foundTables(all)}`);

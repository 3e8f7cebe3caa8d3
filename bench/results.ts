import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { measurements } from './measurements.ts';
import { type Found, nameOf, type Origin, type Result, tablesOf } from './table.ts';

const resultsFile = path.join(import.meta.dirname, 'results.json');
const readmeFile = path.join(import.meta.dirname, 'README.md');

export const readResults = (): Result[] => JSON.parse(readFileSync(resultsFile, 'utf8')) as Result[];

export const readReadme = (): string => readFileSync(readmeFile, 'utf8');

/** Keeps what a measurement found in place of what it found before. */
export function keepResults(measurement: string, { rows = [], costs = [] }: Found, origin: Origin): void {
  const compared = rows.map(({ ours, theirs, ...row }) => ({
    ...{ ...row, ours: rounded(ours), theirs: rounded(theirs) },
    ...(theirs !== 0 && { ratio: rounded(ours / theirs) }),
  }));
  const alone = costs.map(({ value, ...cost }) => ({ ...cost, ours: rounded(value) }));
  const found = [...compared, ...alone].map((each) => ({ measurement, ...each, ...origin }));
  const order = Object.keys(measurements);
  const all = [...readResults().filter((result) => result.measurement !== measurement), ...found];
  all.sort((a, b) => order.indexOf(a.measurement) - order.indexOf(b.measurement));
  writeFileSync(resultsFile, `${JSON.stringify(all, null, 2)}\n`);
  writeReadme();
}

/** Writes the tables of the README anew. */
export function writeReadme(): void {
  writeFileSync(readmeFile, readmeWith(readReadme(), readResults()));
}

const rounded = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(4)) : 0);

const tables = /(<!-- results of ([\w, -]+) -->\n)[\s\S]*?(<!-- end of results -->)/g;

/** A README whose tables hold these results, between the comments that name measurements. */
export const readmeWith = (readme: string, results: readonly Result[]): string =>
  readme.replaceAll(tables, (_, begin: string, names: string, end: string) => {
    const shown = names.split(', ');
    return `${begin}\n${tablesOf(results.filter(({ measurement }) => shown.includes(measurement)))}\n${end}`;
  });

/** The measurements whose tables a README has no place for. */
export function notShown(readme: string): string[] {
  const shown = [...readme.matchAll(tables)].flatMap(([, , names]) => names!.split(', '));
  return Object.keys(measurements).filter((name) => !shown.includes(name));
}

/** How found differs from what a measurement is said to find; nothing where it doesn't. */
export function differences(measurement: string, found: readonly { what: string; peer?: string }[]): string[] {
  const { finds } = measurements[measurement]!;
  const names = found.map(nameOf);
  return [
    ...finds
      .filter((said) => !names.some((name) => isSaid(name, said)))
      .map((said) => `${measurement}: “${said}” is missing`),
    ...names
      .filter((name) => !finds.some((said) => isSaid(name, said)))
      .map((name) => `${measurement}: “${name}” is not in measurements.ts`),
  ];
}

const isSaid = (name: string, said: string) =>
  said.endsWith('…') ? name.startsWith(said.slice(0, -1)) : name === said;

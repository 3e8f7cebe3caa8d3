import { describe, expect, test } from 'vitest';
import { commitsSince, hasHistory } from './history.ts';
import { measurements } from './measurements.ts';
import { differences, notShown, readmeWith, readReadme, readResults } from './results.ts';
import type { Result } from './table.ts';

/** So far the last change of what is measured may lie behind a figure; 200 again once those of several servers are new. */
const MOST_COMMITS = 400;

const results = readResults();
const of = (name: string) => results.filter(({ measurement }) => measurement === name);

/** What is wrong with the commits of a measurement's figures. */
function outdated(name: string, found: readonly Result[]): string[] {
  const again = `Measure again, with all committed: npm run bench -- ${name}`;
  return [...new Set(found.map(({ commit }) => commit))].flatMap((commit) => {
    const { measures } = measurements[name]!;
    const since = commitsSince(commit, measures);
    const figures = `${name}: figures of ${commit.slice(0, 9)}`;
    if (since === undefined) return [`${figures}, which is no commit before this one (rebased?). ${again}`];
    if (since <= MOST_COMMITS) return [];
    return [`${figures}, ${since} commits before the last change of ${measures.join(', ')}. ${again}`];
  });
}

test.each(Object.keys(measurements))('each figure of %s is there', (name) => {
  expect(differences(name, of(name)), `npm run bench -- ${name}`).toEqual([]);
});

test('the README shows what was found, all of it', () => {
  expect(readmeWith(readReadme(), results), 'npm run generate').toBe(readReadme());
  expect(notShown(readReadme())).toEqual([]);
});

describe.skipIf(!hasHistory())('the age of the figures in bench/results.json, which needs git and all commits', () => {
  test.each(Object.keys(measurements))('%s was measured since', (name) => {
    expect(outdated(name, of(name))).toEqual([]);
  });
});

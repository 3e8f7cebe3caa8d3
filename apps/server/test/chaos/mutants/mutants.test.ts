import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';
import { mutated, serverFolder } from './mutate.ts';

test.each(mutants)('the bug $name can be planted, and what should find it is there', async (mutant) => {
  const source = await readFile(path.join(serverFolder, 'src', mutant.file), 'utf8');
  expect(mutated(mutant, source)).not.toBe(source);
  expect(mutant.tests).not.toEqual([]);
  for (const file of mutant.tests) await access(path.join(serverFolder, file));
});

test('a text that stands there twice, or no more, plants nothing', () => {
  const mutant = { name: 'a', file: 'b.ts', find: 'one', replace: 'two', tests: [] };
  expect(mutated(mutant, 'some one')).toBe('some two');
  expect(() => mutated(mutant, 'one one')).toThrow('stands 2 times in src/b.ts');
  expect(() => mutated(mutant, 'all')).toThrow('stands 0 times');
});

test('each has a name of its own', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});

import { expect, test } from 'vitest';
import { checkNesting } from './nesting.ts';

const check = (text: string) => () => checkNesting(text);
const arrays = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

test('what nests 32 levels deep passes, and no level more, closed or not', () => {
  for (const text of [arrays(32), objects(32), `[${`${arrays(31)},`.repeat(100)}1]`]) expect(check(text)).not.toThrow();
  for (const text of [arrays(33), objects(33), '['.repeat(2_000_000), `[${arrays(31)},${arrays(32)}]`])
    expect(check(text)).toThrow('body must nest at most 32 levels deep');
});

test('what stands in texts does not count', () => {
  const brackets = '[{'.repeat(100);
  for (const text of [brackets, `\\"${brackets}`, `${brackets}\\\\`, `é\u{1f600}${brackets}`])
    expect(check(`{"a":"${text}"}`)).not.toThrow();
  expect(check(`{"a":"\\\\","b":${arrays(32)}}`)).toThrow();
  expect(check(`"${'x'.repeat(100)}`)).not.toThrow();
});

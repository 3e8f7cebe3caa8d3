import { expect, test } from 'vitest';
import { mutationsOf } from './mutations.ts';

const changed = (source: string) =>
  mutationsOf(source).map((mutation) => [mutation.line, mutation.source.split('\n')[mutation.line - 1]!.trim()]);

test('one line at a time is changed: comparisons, conditions, calls, assignments', () => {
  const source = 'const a = b > 1 && c;\nif (a) go(b);\nfunction f() {\n  stop();\n  at = 0;\n}\n';
  expect(changed(source)).toEqual([
    [1, 'const a = b >= 1 && c;'],
    [1, 'const a = b > 1 || c;'],
    [2, 'if (false && a) go(b);'],
    [4, ''],
    [5, ''],
  ]);
});

test('each predicate of SQL is left out once', () => {
  const source = "sql`update calls set n = n + 1\n  where id = 1 and status = 'queued' and (a or b)`;\n";
  expect(changed(source).map(([, text]) => text)).toEqual(
    expect.arrayContaining(['where id = 1 and (a or b)`;', 'sql`update calls set n = n - 1']),
  );
});

test('comments, imports and types stay, and what could not be read is left out', () => {
  expect(mutationsOf("import { a } from './a.ts';\n// a > b\n/** true */\ntype A = B < C;\n")).toEqual([]);
  // Without the statement a block would be a syntax error nowhere: but a half bracket would.
  expect(mutationsOf('const a = [\n  f(\n    1 + 2,\n  ),\n];\n').every(({ source }) => source.includes('f('))).toBe(
    true,
  );
});

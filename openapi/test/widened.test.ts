import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Bundle, bundleContract, type Contract, here } from './bundle.ts';
import { RELEASED } from './released.ts';
import { ANSWERS, answersOf, judgeOf, MORE, VALUE, widened } from './widened.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleContract();
});
afterAll(() => bundle.remove());

// widened.long.test.ts has a proxy check them.
it('a validator of the released contract takes a thousand answers of a server that says more', async () => {
  const released = parse(await readFile(here(`released/${RELEASED}.yaml`), 'utf8')) as Contract;
  const open = judgeOf(released);
  const schemas = new Map(answersOf(released).map(({ key, status, schema }) => [`${key} ${status}`, schema]));
  const answers = widened(bundle);
  const texts = answers.map(({ example }) => JSON.stringify(example));
  expect(texts.filter((text) => text.includes(MORE)).length).toBe(ANSWERS);
  expect(texts.filter((text) => text.includes(VALUE)).length).toBeGreaterThan(ANSWERS / 2);
  let judged = 0;
  for (const { key, status, example } of answers) {
    const schema = schemas.get(`${key} ${status}`);
    // What is new since then has nobody who reads it strictly.
    if (!schema) continue;
    judged += 1;
    expect([key, status, open(schema, example)]).toEqual([key, status, []]);
  }
  expect(judged).toBeGreaterThan(0.75 * ANSWERS);
});

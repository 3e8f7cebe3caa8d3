import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import SwaggerParser from '@apidevtools/swagger-parser';
import { generate } from 'orval';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bundle, bundleContract, here, tool } from './bundle.ts';
import { compileStrictly } from './strict.ts';
import { judge } from './zod-schemas.ts';

let bundle: Bundle;

beforeAll(async () => {
  bundle = await bundleContract();
  await symlink(here('node_modules'), join(bundle.folder, 'node_modules'));
});
afterAll(() => bundle.remove());

// tools.long.test.ts and spectral.long.test.ts try what takes longer.
describe("the contract in other people's tools", () => {
  it('is valid to swagger-parser', async () => {
    await expect(SwaggerParser.validate(structuredClone(bundle.contract) as never)).resolves.toBeDefined();
  });

  it('has no parameter with the name of a schema, which generators make one type of', () => {
    const { parameters, schemas } = bundle.contract.components;
    expect(Object.keys(parameters).filter((name) => name in schemas)).toEqual([]);
  });

  it('gives oazapfts a client that compiles strictly', () =>
    compileStrictly(join(bundle.folder, 'oazapfts'), (out) => tool('oazapfts', bundle.path, join(out, 'client.ts'))));

  it('gives orval schemas of Zod that take every example, and what a later version adds to an answer', async () => {
    const file = join(bundle.folder, 'orval.ts');
    await generate({ input: { target: bundle.path }, output: { target: file, client: 'zod' } }, bundle.folder);
    const schemas = await import(file);
    const { bodies, answers, wrong } = judge(bundle, (id) => {
      const name = id[0]!.toUpperCase() + id.slice(1);
      return { body: schemas[`${name}Body`], answer: schemas[`${name}Response`] };
    });
    expect(wrong).toEqual([]);
    // Of answers with 201 and 202 it makes none.
    expect(Math.min(bodies, answers)).toBeGreaterThan(50);
  });
});

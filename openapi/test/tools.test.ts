import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import SwaggerParser from '@apidevtools/swagger-parser';
import rulesets from '@stoplight/spectral-rulesets';
import codegen from 'openapi-typescript-codegen';
import { generate } from 'orval';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bundle, bundleContract, type Contract, here, operationsOf, tool } from './bundle.ts';
import { complaints, SCHEMA_EXAMPLES } from './spectral.ts';
import { judge } from './zod-schemas.ts';

let bundle: Bundle;

beforeAll(async () => {
  bundle = await bundleContract();
  await symlink(here('node_modules'), join(bundle.folder, 'node_modules'));
});
afterAll(() => bundle.remove());

/** Spectral looks at what is referred to at each place that does, which takes a minute: once is enough. Examples of schemas take it long: spectral.long.test.ts. */
function withEachErrorOnce(contract: Contract): Contract {
  const copy = structuredClone(contract);
  const seen = new Set<string>();
  for (const { operation } of operationsOf(copy)) {
    for (const [status, { $ref }] of Object.entries(operation.responses)) {
      if ($ref && seen.has($ref)) delete operation.responses[status];
      if ($ref) seen.add($ref);
    }
  }
  return copy;
}

/** With schemas of Zod, which Node has to parse too: TypeScript doesn't look into regular expressions. */
async function openapiTs(out: string): Promise<void> {
  const plugins = ['@hey-api/typescript', '@hey-api/sdk', 'zod'];
  await tool('openapi-ts', '-i', bundle.path, '-o', out, '--silent', '-p', ...plugins);
  await promisify(execFile)(process.execPath, ['--check', join(out, 'zod.gen.ts')]);
}

/** A client that is generated, in the test's folder. */
const GENERATORS: [name: string, generate: (out: string) => Promise<unknown>][] = [
  ['openapi-ts', openapiTs],
  ['oazapfts', (out) => tool('oazapfts', bundle.path, join(out, 'client.ts'))],
  ['openapi-typescript-codegen', (out) => codegen.generate({ input: bundle.path, output: out, httpClient: 'fetch' })],
];

const STRICT = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  strict: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  types: [],
};

describe("the contract in other people's tools", () => {
  it('is without a warning to Spectral', async () => {
    expect(
      await complaints(withEachErrorOnce(bundle.contract), {
        extends: [rulesets.oas],
        rules: { [SCHEMA_EXAMPLES]: 'off' },
      }),
    ).toEqual([]);
  });

  it('is valid to swagger-parser', async () => {
    await expect(SwaggerParser.validate(structuredClone(bundle.contract) as never)).resolves.toBeDefined();
  });

  it('has no parameter with the name of a schema, which generators make one type of', () => {
    const { parameters, schemas } = bundle.contract.components;
    expect(Object.keys(parameters).filter((name) => name in schemas)).toEqual([]);
  });

  it.each(GENERATORS)('gives %s a client that compiles strictly', async (name, generate) => {
    const out = join(bundle.folder, name);
    await mkdir(out);
    await generate(out);
    const project = join(out, 'tsconfig.json');
    await writeFile(project, JSON.stringify({ compilerOptions: STRICT, include: ['.'] }));
    await expect(tool('tsc', '-p', project).catch(({ stdout }) => stdout)).resolves.toMatchObject({ stdout: '' });
  });

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

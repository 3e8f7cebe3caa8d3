import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import codegen from 'openapi-typescript-codegen';
import { afterAll, beforeAll, it } from 'vitest';
import { type Bundle, bundleContract, here, tool } from './bundle.ts';
import { compileStrictly } from './strict.ts';

let bundle: Bundle;

beforeAll(async () => {
  bundle = await bundleContract();
  await symlink(here('node_modules'), join(bundle.folder, 'node_modules'));
});
afterAll(() => bundle.remove());

/** With schemas of Zod, which Node has to parse too: TypeScript doesn't look into regular expressions. */
async function openapiTs(out: string): Promise<void> {
  const plugins = ['@hey-api/typescript', '@hey-api/sdk', 'zod'];
  await tool('openapi-ts', '-i', bundle.path, '-o', out, '--silent', '-p', ...plugins);
  await promisify(execFile)(process.execPath, ['--check', join(out, 'zod.gen.ts')]);
}

/** A client that is generated, in the test's folder. */
const GENERATORS: [name: string, generate: (out: string) => Promise<unknown>][] = [
  ['openapi-ts', openapiTs],
  ['openapi-typescript-codegen', (out) => codegen.generate({ input: bundle.path, output: out, httpClient: 'fetch' })],
];

it.each(GENERATORS)('gives %s a client that compiles strictly', (name, generate) =>
  compileStrictly(join(bundle.folder, name), generate),
);

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bundle, bundleContract } from './bundle.ts';
import { type FindSchemas, judge } from './zod-schemas.ts';

const run = promisify(execFile);
const TOOLS = [
  ...['@kubb/core@4.39.3', '@kubb/plugin-oas@4.39.3', '@kubb/plugin-zod@4.39.3'],
  ...['openapi-zod-client@1.18.3', '@zodios/core@10.9.6', 'zod@3.25.76'],
];

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleContract();
  await writeFile(join(bundle.folder, 'package.json'), JSON.stringify({ name: 'elsewhere', type: 'module' }));
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...TOOLS], { cwd: bundle.folder });
});
afterAll(() => bundle.remove());

const kubb = `
  import { build } from '@kubb/core';
  import { pluginOas } from '@kubb/plugin-oas';
  import { pluginZod } from '@kubb/plugin-zod';
  const zod = pluginZod({ output: { path: 'zod.ts', barrelType: false }, version: '4' });
  const plugins = [pluginOas({ generators: [], validate: false }), zod];
  const { error } = await build({
    config: { root: '.', input: { path: './openapi.json' }, output: { path: './kubb', format: false }, plugins },
  });
  if (error) throw error;
`;

it('gives kubb schemas of Zod that take every example, and what a later version adds to an answer', async () => {
  await writeFile(join(bundle.folder, 'kubb.mjs'), kubb);
  await run(process.execPath, ['kubb.mjs'], { cwd: bundle.folder });
  const schemas = await import(join(bundle.folder, 'kubb/zod.ts'));
  expectAllTaken((id) => ({
    body: schemas[`${id}MutationRequestSchema`],
    answer: schemas[`${id}QueryResponseSchema`] ?? schemas[`${id}MutationResponseSchema`],
  }));
});

interface Endpoint {
  alias: string;
  response: never;
  parameters?: { type: string; schema: never }[];
}

it('gives openapi-zod-client the same', async () => {
  const file = join(bundle.folder, 'client.ts');
  const program = join(bundle.folder, 'node_modules/.bin/openapi-zod-client');
  await run(process.execPath, [program, bundle.path, '-o', file, '--with-alias'], { cwd: bundle.folder });
  const { api } = (await import(file)) as { api: { api: Endpoint[] } };
  expectAllTaken((id) => {
    const { response, parameters = [] } = api.api.find(({ alias }) => alias === id)!;
    return { body: parameters.find(({ type }) => type === 'Body')?.schema, answer: response };
  });
});

function expectAllTaken(find: FindSchemas): void {
  const { bodies, answers, wrong } = judge(bundle, find);
  expect(wrong).toEqual([]);
  expect(Math.min(bodies, answers)).toBeGreaterThan(50);
}

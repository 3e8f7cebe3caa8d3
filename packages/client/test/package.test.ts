import { mkdir, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { samplesOf } from '../../../openapi/samples.ts';
import { emptyFolder, pack, root, run, tryIn, typed } from './packed.ts';

/** An empty folder elsewhere, in which lie what the tarball has and the dependency that it declares. */
const folder = await emptyFolder();
const installed = path.join(folder, 'node_modules/@trunkline/client');

// elsewhere.long.test.ts has npm install it, and tries it in other runtimes and with older compilers.
beforeAll(async () => {
  const tarball = await pack(folder);
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1'], { cwd: installed });
  await symlink(
    await realpath(path.join(root, 'node_modules/openapi-fetch')),
    path.join(folder, 'node_modules/openapi-fetch'),
  );
});
afterAll(() => rm(folder, { recursive: true }));

/** All files of the package with this ending, one after the other. */
async function built(ending: string): Promise<string> {
  const dist = path.join(installed, 'dist');
  const names = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith(ending));
  return (await Promise.all(names.map((name) => readFile(path.join(dist, name), 'utf8')))).join('\n');
}

test('in the Node of this suite: a request, a retry, a stream that breaks, a form, an error and a webhook', () =>
  tryIn(folder, process.execPath));

test.each(['bundler', 'node16', 'nodenext'])('its types are right under %s', async (moduleResolution) => {
  await writeFile(path.join(folder, 'program.ts'), typed);
  const module = moduleResolution === 'bundler' ? 'esnext' : moduleResolution;
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--types', ''];
  await run('tsc', [...options, '--module', module, '--moduleResolution', moduleResolution, 'program.ts'], {
    cwd: folder,
  });
});

test('its declarations have nothing in them that TypeScript 5.0 lacks', async () => {
  const declarations = await built('.d.ts');
  expect(declarations).toContain('createClient');
  expect(declarations).not.toMatch(/\bNoInfer<|\bwith \{/);
});

test('the code of both READMEs, and of the guides that show it, compiles', async () => {
  for (const file of ['README.md', '../../README.md', '../../docs/get-started.md', '../../docs/campaigns.md']) {
    const text = await readFile(path.join(root, file), 'utf8');
    const blocks = [...text.matchAll(/```ts(?: client)?\n(.*?)```/gs)].map(([, code]) => code);
    expect(blocks.length).toBeGreaterThan(0);
    await compile({ 'readme.ts': blocks.join('\n') });
  }
});

test('the samples of the reference compile', async () => {
  const contract = JSON.parse(await readFile(path.join(root, '../../openapi/dist/openapi.json'), 'utf8'));
  const samples = samplesOf(contract).flatMap(({ operation, samples }) =>
    samples.flatMap(({ lang, source }) => (lang === 'TypeScript' ? [[`${operation.operationId}.ts`, source]] : [])),
  );
  expect(samples.length).toBeGreaterThan(100);
  await compile(Object.fromEntries(samples));
});

async function compile(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  const types = ['--types', 'node', '--typeRoots', path.join(root, '../../node_modules/@types'), '--skipLibCheck'];
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', ...types];
  const compiling = run('tsc', [...options, ...Object.keys(files)], { cwd: folder });
  await compiling.catch((error) => expect.unreachable(error.stdout));
}

/** The bytes of a module that uses the package, minified, in a browser. */
async function sizeOf(program: string): Promise<number> {
  const input = path.join(folder, 'input.mjs');
  await writeFile(input, program);
  const bundle = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
  const { output } = await bundle.generate({ minify: true });
  return Buffer.byteLength(output[0].code);
}

test('it is small, and what is not used is not there', async () => {
  const all = await sizeOf(`export * from '@trunkline/client';`);
  // The table of operations is a part of it, and grows with the contract.
  expect(all).toBeLessThanOrEqual(21_000);
  expect(await sizeOf(`import { webhooks } from '@trunkline/client'; console.log(webhooks);`)).toBeLessThan(all / 5);
});

test('it has nothing in it that a browser lacks', async () => {
  const code = await built('.js');
  expect(code).toContain('createClient');
  expect(code).not.toMatch(/from '(node:|\.[^']*\.ts')|\b(process|Buffer)\./);
  const manifest = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(manifest.dependencies)).toEqual(['openapi-fetch']);
});

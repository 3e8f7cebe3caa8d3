import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { sdpAnswer, sdpOffer } from './agents.ts';

const run = promisify(execFile);
const root = path.dirname(import.meta.dirname);

test('the built package runs the README’s code in plain Node, and imports nothing but Node', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sip-built-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await run('tsc', ['-p', 'tsconfig.build.json', '--outDir', folder], { cwd: root });
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.js'))) {
    const text = await readFile(path.join(folder, name), 'utf8');
    for (const [, from] of text.matchAll(/from '([^']+)'/g)) expect(from).toMatch(/^(node:|\.\/.*\.js$)/);
  }
  const readme = await readFile(path.join(root, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
  expect(blocks.length).toBeGreaterThan(5);
  const prepared = `const sdpOffer = ${JSON.stringify(sdpOffer)};\nconst sdpAnswer = ${JSON.stringify(sdpAnswer)};\n`;
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  const script = path.join(folder, 'readme.ts');
  await writeFile(script, prepared + blocks.join('\n').replaceAll("'@trunkline/sip'", "'./index.js'"));
  const checks = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
    '--skipLibCheck',
  ];
  await run('tsc', [...checks, '--typeRoots', path.join(root, 'node_modules/@types'), '--ignoreConfig', script], {
    cwd: root,
  });
  const { stdout } = await run('node', [script], {
    env: { PATH: process.env['PATH'] },
    timeout: 240_000,
  });
  expect(stdout).toContain('180 rings');
  expect(stdout).toContain("{ kind: 'hung_up' }");
  expect(stdout).toContain('reachable not_given');
  expect(stdout).toMatch(/sent INVITE sip:b@127\.0\.0\.1/);
});

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../../..');
const readJson = async (file: string) => JSON.parse(await readFile(file, 'utf8'));

test('what the server is made of is listed, in the versions that are installed, and nothing that only tests need', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sbom-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { sbom } = (await readJson(path.join(root, 'package.json'))).scripts;
  const [, ...args] = sbom.replace(' --out dist/', ` --out ${folder}/`).split(' ');
  await promisify(execFile)(path.join(root, 'node_modules/.bin/pnpm'), args, { cwd: root });
  const server = await readJson(path.join(root, 'apps/server/package.json'));
  const [file = ''] = await readdir(folder);
  expect(file).toBe(`trunkline-server-${server.version}.cdx.json`);
  const { bomFormat, components } = await readJson(path.join(folder, file));
  expect(bomFormat).toBe('CycloneDX');
  const listed = new Map<string, string>(
    components.map(({ group, name, version }: Record<string, string>) => [group ? `${group}/${name}` : name, version]),
  );
  for (const name of Object.keys(server.dependencies)) {
    const installed = await readJson(path.join(root, 'apps/server/node_modules', name, 'package.json'));
    expect(`${name} ${listed.get(name)}`).toBe(`${name} ${installed.version}`);
  }
  expect([...listed.keys()]).not.toContain('vitest');
});

test('the actions of the workflows are named by their commits', async () => {
  const folder = path.join(root, '.github/workflows');
  for (const file of await readdir(folder))
    for (const [, used] of (await readFile(path.join(folder, file), 'utf8')).matchAll(/\buses: *(\S+)/g))
      expect(used).toMatch(/@[0-9a-f]{40}$/);
});

test('the images of a deployment are named by their digests', async () => {
  const named = async (file: string, pattern: RegExp) =>
    (await readFile(path.join(root, 'deploy', file), 'utf8')).match(pattern);
  const images = [
    ...(await named('Dockerfile', /(?<=^FROM )\S+/gm))!,
    // What the server's service is called is built here.
    ...(await named('compose.yaml', /(?<=^ *image: )(?!trunkline$)\S+/gm))!,
  ];
  expect(images).toHaveLength(4);
  for (const image of images) expect(image).toMatch(/^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
});

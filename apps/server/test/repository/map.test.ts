import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '../../../..');
const src = path.join(root, 'apps/server/src');
const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');

/** The drawing of `src`, word by word; `compose*` stands for all that begin so. */
const drawn = /^```\n( bin .*?)^```/ms.exec(page)![1]!.split(/[\s,:·]+/);
const isDrawn = (name: string) =>
  drawn.some((word) => word === name || (word.endsWith('*') && name.startsWith(word.slice(0, -1))));

test('docs/architecture.md draws each wing of the server, each folder of a wing and each file beside the wings', () => {
  const entries = (folder: string) =>
    readdirSync(path.join(src, folder), { withFileTypes: true }).filter(({ name }) => !name.endsWith('.test.ts'));
  const wings = entries('').filter((entry) => entry.isDirectory());
  const folders = wings.flatMap((wing) => entries(wing.name)).filter((entry) => entry.isDirectory());
  const files = entries('').filter((entry) => entry.isFile());
  const names = [...wings, ...folders, ...files].map(({ name }) => name.replace(/\.ts$/, ''));
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => !isDrawn(name))).toEqual([]);
});

test('docs/architecture.md names each package of the workspace, and no file that there is not', () => {
  const manifests = globSync('{*,*/*}/package.json', { cwd: root, exclude: ['**/node_modules'] });
  const packages = manifests.map((file) => path.dirname(file));
  expect(packages).toContain('packages/sip');
  const named = (folder: string) =>
    page.includes(`| \`${folder}/\``) || page.includes(`| \`${path.dirname(folder)}/\``);
  expect(packages.filter((folder) => !named(folder))).toEqual([]);

  const files = new Set(
    globSync('{apps,packages}/*/{src,test}/**/*.ts', { cwd: root }).map((file) => path.basename(file)),
  );
  const unknown = [...page.matchAll(/`([a-z][\w./-]*\.ts)`/g)]
    .map(([, name]) => name!)
    .filter((name) =>
      name.includes('/')
        ? ![src, root, path.dirname(src)].some((folder) => existsSync(path.join(folder, name)))
        : !files.has(name),
    );
  expect(unknown).toEqual([]);
});

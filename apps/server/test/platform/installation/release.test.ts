import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../../../..', import.meta.url));
/** Besides the packages' manifests, what a version is written into. */
const needed = [
  ...['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', '.changeset', 'scripts'],
  ...['openapi/openapi.yaml', 'packages/client/src/environment.ts', 'apps/server/migrations'],
];
const manifests = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*/package.json'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n');
const folderOf = (manifest: string) => path.dirname(manifest);
const read = (at: string, file: string) => readFileSync(path.join(at, file), 'utf8');
const published = manifests.filter((each) => !JSON.parse(read(root, each)).private);

const copy = mkdtempSync(path.join(tmpdir(), 'trunkline-release-'));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

beforeAll(() => {
  for (const each of [...needed, ...manifests])
    cpSync(path.join(root, each), path.join(copy, each), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  const all = published.map((each) => `'${JSON.parse(read(root, each)).name}': patch`).join('\n');
  writeFileSync(path.join(copy, '.changeset/tried.md'), `---\n${all}\n---\n\nTried.\n`);
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {
      cwd: copy,
      stdio: 'pipe',
    });
  writeFileSync(path.join(copy, '.gitignore'), 'node_modules\n');
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'All');
  execFileSync(process.execPath, [path.join(copy, 'scripts/versions.mjs')], { cwd: copy, stdio: 'pipe' });
});

test('each published package gets a version and a changelog, and no other does', () => {
  expect(readdirSync(path.join(copy, '.changeset')).filter((name) => /^[a-z-]+\.md$/.test(name))).toEqual([]);
  for (const manifest of manifests) {
    const { name, version } = JSON.parse(read(copy, manifest));
    const changelog = path.join(folderOf(manifest), 'CHANGELOG.md');
    const was = JSON.parse(read(root, manifest)).version;
    expect([name, existsSync(path.join(copy, changelog))]).toEqual([name, published.includes(manifest)]);
    if (!published.includes(manifest)) expect([name, version]).toEqual([name, was]);
    else {
      expect([name, version]).not.toEqual([name, was]);
      expect(read(copy, changelog)).toMatch(new RegExp(`^# ${name}\\n\\n## ${version}\\n[^]*Tried\\.`));
    }
  }
});

test('what bears a version bears that of its package, now and after the next release', () => {
  for (const at of [root, copy]) {
    const versionOf = (folder: string) => JSON.parse(read(at, `${folder}/package.json`)).version;
    expect(parse(read(at, 'openapi/openapi.yaml')).info.version).toBe(versionOf('openapi'));
    expect(read(at, 'packages/client/src/environment.ts')).toContain(
      `@trunkline/client/${versionOf('packages/client')}'`,
    );
  }
});

test('a contract that differs from the one kept of its version gets another version with the next release', () => {
  const raised = readdirSync(path.join(root, '.changeset')).some((name) =>
    /^'@trunkline\/openapi':/m.test(read(root, path.join('.changeset', name)).split('\n---')[0]!),
  );
  if (raised) return;
  const { version } = JSON.parse(read(root, 'openapi/package.json'));
  expect(JSON.parse(read(root, 'openapi/dist/closed.json'))).toEqual(
    parse(read(root, `openapi/released/${version}.closed.yaml`)),
  );
});

test.each(published)('%s says what npm shows, as the others do', (manifest) => {
  const { name, ...fields } = JSON.parse(read(root, manifest));
  const repository = 'https://github.com/trunkline/trunkline';
  expect(fields).toMatchObject({
    description: expect.stringMatching(/\.$/),
    license: 'Apache-2.0',
    homepage: `${repository}#readme`,
    repository: { type: 'git', url: `git+${repository}.git`, directory: folderOf(manifest) },
    keywords: expect.arrayContaining(['trunkline']),
    publishConfig: { access: 'public', provenance: true },
    engines: { node: expect.stringMatching(/^>=\d+/) },
    files: expect.arrayContaining([expect.stringContaining('dist'), 'CHANGELOG.md']),
  });
  expect(name).toMatch(/^@trunkline\//);
  expect(existsSync(path.join(root, folderOf(manifest), 'README.md'))).toBe(true);
  expect(fields.scripts.prepack).toBeDefined();
});

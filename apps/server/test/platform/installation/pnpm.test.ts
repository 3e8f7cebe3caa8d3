import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = (path: string) => fileURLToPath(new URL(`../../../../../${path}`, import.meta.url));
const lockfile = readFileSync(root('pnpm-lock.yaml'), 'utf8');
const { packageManager } = JSON.parse(readFileSync(root('package.json'), 'utf8')) as { packageManager: string };

/** What a piece of a program gives that sees scripts/pnpm.mjs as `pnpm`. */
async function told(program: string): Promise<unknown> {
  const text = `import * as pnpm from ${JSON.stringify(root('scripts/pnpm.mjs'))};
    const fault = (act) => { try { act(); return 'none'; } catch (error) { return error.message; } };
    console.log(JSON.stringify(${program}));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', text]);
  return JSON.parse(stdout);
}

test('pnpm is pinned by the hash that the lockfile has of it', () => {
  const [, version, hash] = packageManager.match(/^pnpm@([\d.]+)\+sha512\.([0-9a-f]{128})$/)!;
  const integrity = `sha512-${Buffer.from(hash!, 'hex').toString('base64')}`;
  expect(lockfile).toContain(`\n  pnpm@${version}:\n    resolution: {integrity: ${integrity}}`);
});

test('what npm brings in place of it is not run', async () => {
  const version = packageManager.match(/@([\d.]+)/)![1];
  for (const machine of ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])
    expect(lockfile).toMatch(
      new RegExp(`^  '@pnpm/exe\\.${machine}@${version}':\n    resolution: {integrity: sha512-`, 'm'),
    );
  const hashOf = (text: string) => `sha512-${createHash('sha512').update(text).digest('base64')}`;
  const checked = (text: string) =>
    told(`fault(() => pnpm.checkIntegrity(Buffer.from('x'), { name: 'x', integrity: '${hashOf(text)}' }))`);
  expect(await checked('x')).toBe('none');
  expect(await checked('y')).toContain('it was not run');
  expect(await told("fault(() => pnpm.pinnedProgram('', '1.0.0'))")).toContain('has no hash of');
});

test('it is given none of the secrets of the environment', async () => {
  const given = ['PATH', 'HOME', 'npm_config_registry', 'https_proxy', 'NODE_EXTRA_CA_CERTS'];
  const kept = [
    'BOOTSTRAP_API_KEY',
    'ENCRYPTION_KEY',
    'DATABASE_URL',
    'AWS_SECRET_ACCESS_KEY',
    'GITHUB_TOKEN',
    'XPATH',
  ];
  const environment = Object.fromEntries([...given, ...kept].map((name) => [name, 'x']));
  const neededWith = async (...settings: string[]) =>
    Object.keys((await told(`pnpm.neededOf(${JSON.stringify(environment)}, ${JSON.stringify(settings)})`)) as object);
  expect(await neededWith()).toEqual(given);
  const token = `//npm.example.com/:_authToken=$\{GITHUB_TOKEN}\n`;
  expect(await neededWith('', token)).toEqual([...given, 'GITHUB_TOKEN']);
});

import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, inject, test } from 'vitest';
import { cli, file } from './cli.ts';

/** No server, no key, and a folder for settings. */
async function nobody() {
  const XDG_CONFIG_HOME = path.dirname(await file('x', ''));
  return {
    env: { TRUNKLINE_BASE_URL: '', TRUNKLINE_API_KEY: '', XDG_CONFIG_HOME },
    kept: path.join(XDG_CONFIG_HOME, 'trunkline/config.json'),
  };
}

test('login keeps server and key for this user alone, and logout forgets them', async () => {
  const { env, kept } = await nobody();
  const { url, apiKey } = inject('server');
  const stranger = await cli(['lists', 'list'], { env });
  expect(stranger.code).toBe(2);
  expect(stranger.stderr).toContain('next     trunkline login');
  const { code, stdout } = await cli(['login', url], { env, stdin: `${apiKey}\n` });
  expect(code).toBe(0);
  expect(stdout).not.toContain(apiKey);
  expect((await stat(kept)).mode & 0o777).toBe(0o600);
  expect((await stat(path.dirname(kept))).mode & 0o777).toBe(0o700);
  expect((await cli(['workspace', 'show'], { env })).code).toBe(0);
  const wrong = await cli(['workspace', 'show'], { env: { ...env, TRUNKLINE_API_KEY: 'tl_test_wrong' } });
  expect(wrong.stderr).toMatch(/code +unauthorized \(401\)/);
  expect((await cli(['logout'], { env })).stdout).toContain('Logged out.');
  expect((await cli(['logout'], { env })).stdout).toBe('Nobody was logged in.\n');
  expect((await cli(['workspace', 'show'], { env })).code).toBe(2);
});

test('a key that the server refuses is not kept', async () => {
  const { env, kept } = await nobody();
  const { code } = await cli(['login', inject('server').url], { env, stdin: 'tl_test_wrong' });
  expect(code).toBe(1);
  await expect(readFile(kept)).rejects.toThrow('ENOENT');
  expect((await cli(['login', 'localhost'], { env, stdin: 'tl_x' })).stderr).toContain('http://localhost:8080');
  expect((await cli(['login', inject('server').url], { env })).code).toBe(2);
  expect((await cli(['login'], { env, stdin: 'tl_x' })).code).toBe(2);
});

test('the key of one server is not told to another', async () => {
  const { env, kept } = await nobody();
  await cli(['login', inject('server').url], { env, stdin: inject('server').apiKey });
  const { code, stderr } = await cli(['lists', 'list'], { env: { ...env, TRUNKLINE_BASE_URL: 'http://127.0.0.1:9' } });
  expect(code).toBe(2);
  expect(stderr).toContain('Set TRUNKLINE_API_KEY as well');
  await writeFile(kept, '{');
  expect((await cli(['lists', 'list'], { env })).stderr).toContain('is not as `login` writes it');
});

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv, promisify } from 'node:util';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { removeEmbeddedPostgres } from '../../../src/foundation/database/postgres/embedded.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../../..', import.meta.url));
const textOf = (name: string) => readFileSync(path.join(root, name), 'utf8');
/** Stands for the root of a machine. */
const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-service-'));
const inFolder = (text: string) => text.replace(/(?<![\w.])\/(opt|var)\b/g, `${folder}/$1`);
const state = inFolder('/var/lib/trunkline');
const program = inFolder('/opt/trunkline');
/** Whom the service runs as, if this may be said: somebody who owns nothing. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

afterAll(async () => {
  await removeEmbeddedPostgres(state);
  rmSync(folder, { recursive: true, force: true });
});

const unit = (name: string) => [...textOf('deploy/trunkline.service').matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))];

test("the unit's command runs what `npm run deploy` has put into a folder, as another user, with its own database", {
  timeout: 300_000,
}, async () => {
  chmodSync(folder, 0o755);
  mkdirSync(path.dirname(program));
  mkdirSync(path.dirname(state), { recursive: true });
  mkdirSync(state, { mode: 0o700 });
  if (account.uid) await run('chown', [`${account.uid}:${account.gid}`, state]);
  const deploy = (to: string) => run(process.execPath, ['scripts/run.mjs', 'deploy', to], { cwd: root });
  // The second one takes the place of the first, and a slash at the end is none of the name.
  for (const to of [program, `${program}/`]) await deploy(to);
  // Who has started it in its own folder has the data there.
  mkdirSync(path.join(program, '.data'));
  await expect(deploy(program)).rejects.toThrow(/holds \.data, which would be lost/);
  expect(readdirSync(path.dirname(program))).toEqual(['trunkline']);
  rmdirSync(path.join(program, '.data'));

  const [words = ''] = unit('ExecStart').map(([, line]) => inFolder(line!));
  const [command = '', ...args] = words.split(' ');
  const given = unit('Environment').flatMap(([, line]) => inFolder(line!).split(' '));
  const child = spawn(command, args, {
    cwd: '/',
    env: {
      ...Object.fromEntries(given.map((each) => each.split('='))),
      ...parseEnv(textOf('deploy/.env.example')),
      ...{ PUBLIC_URL: '', PORT: '0' },
    },
    stdio: ['ignore', 'pipe', 'ignore'],
    ...account,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const { url } = JSON.parse(String(line));
  for (const page of ['/readyz', '/docs', '/docs/guides', '/console']) {
    const { status } = await fetch(`${url}${page}`);
    expect([page, status]).toEqual([page, 200]);
  }
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

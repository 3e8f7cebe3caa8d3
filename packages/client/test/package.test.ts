import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const root = path.dirname(import.meta.dirname);

/** The package as it is published, in a folder from which its dependencies can be found and no linter looks. */
async function built(): Promise<string> {
  const folder = await mkdtemp(path.join(root, 'node_modules/.built-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await run('tsc', ['-p', 'tsconfig.build.json', '--outDir', folder], { cwd: root });
  return folder;
}

test('the built package runs in plain Node, and has nothing in it that a browser lacks', async () => {
  const folder = await built();
  const script = path.join(folder, 'try.mjs');
  await writeFile(
    script,
    `import { createClient, TrunklineError, unwrap } from './index.js';
     const fetch = async (request) => Response.json({ code: 'not_found', error: request.url }, { status: 404 });
     const client = createClient({ baseUrl: 'http://calls.example.com', apiKey: 'tl_x', fetch });
     const error = await unwrap(client.GET('/v1/workspace')).catch((thrown) => thrown);
     console.log(error instanceof TrunklineError, error.code, error.message);`,
  );
  const { stdout } = await run('node', [script], { env: { PATH: process.env['PATH'] } });
  expect(stdout).toBe('true not_found http://calls.example.com/v1/workspace\n');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  expect(files).toContain('event-stream.js');
  for (const name of files) {
    expect(await readFile(path.join(folder, name), 'utf8')).not.toMatch(
      /from '(node:|\.[^']*\.ts')|\b(process|Buffer)\./,
    );
  }
});

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../../packages/sip/test/peers/peer-process.ts';
import { addresses } from '../../src/config-values.ts';
import { startTestServer } from '../server.ts';

const docs = path.join(import.meta.dirname, '../../../../docs');

/** In the order in which a reader takes them: each goes on with the variables of the first. */
const GUIDES = [
  'get-started',
  'contact-files',
  'phone-numbers',
  'campaigns',
  'calls',
  'agents',
  'telephony',
  'api',
  'workflows',
  'webhooks',
  'knowledge-bases',
  'records',
];

test('what stands on other pages as commands is marked as not run', async () => {
  const others = (await readdir(docs)).filter(
    (name) => name.endsWith('.md') && !GUIDES.includes(name.replace('.md', '')),
  );
  for (const name of others) expect(await readFile(path.join(docs, name), 'utf8'), name).not.toMatch(/^ *```sh$/m);
});

test('the commands of the guides do what they say, one after another', async (context) => {
  const run = promisify(execFile);
  await run('sh', ['-c', 'command -v bash curl jq']).catch(() => context.skip('bash, curl and jq are not installed'));
  const server = await startTestServer({
    config: {
      simulatorSpeed: 100,
      outboundAllowedAddresses: addresses('127.0.0.1'),
      // Texts can be spoken, as far as a save needs to know.
      speechUrl: 'http://127.0.0.1:9/v1/audio/speech',
    },
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-guides-'));
  // A reader stands in a clone.
  await symlink(path.join(docs, '../examples'), path.join(folder, 'examples'));
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });
  let script = 'set -euo pipefail\n';
  for (const guide of GUIDES) {
    const blocks = [...(await readFile(path.join(docs, `${guide}.md`), 'utf8')).matchAll(/^( *)```sh\n(.*?)^\1```/gms)];
    expect(blocks.length, guide).toBeGreaterThan(0);
    script += blocks
      .map(([, indent, block]) => block!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
      .map((block) => `echo; echo "# ${guide}"\n${block}`)
      .join('');
  }
  const HOOK_PORT = String(await freePort());
  // What a reader of the page of telephony has of a carrier, here of the simulator.
  const carrier = { CARRIER: 'ok.sim', CARRIER_USER: 'me', CARRIER_PASSWORD: 'a-long-passphrase' };
  const numbers = { MY_NUMBER: '+14155550231', MY_PHONE: '+14155550142' };
  const told = { TRUNKLINE_BASE_URL: server.url, TRUNKLINE_API_KEY: server.apiKey };
  const env = { PATH: process.env['PATH'], HOOK_PORT, ...told, ...carrier, ...numbers };
  const { stdout } = await run('bash', ['-xc', script], { cwd: folder, env, maxBuffer: 1e8 }).catch((error) =>
    expect.unreachable(`${error.stdout.slice(-2000)}\n${error.stderr.slice(-2000)}`),
  );
  // What the pages promise at these places.
  expect(stdout).toMatch(/"\+14155550100",\s+"state": "done",\s+"lastOutcome": "answered"/);
  expect(stdout).toMatch(/"\+14155550186",\s+"state": "done",\s+"lastOutcome": "busy"/);
  expect(stdout).toMatch(/# telephony\s+\{\s+"roomId": "room_\w+"/);
  expect(stdout).toContain('"encodingGuessed"');
  expect(stdout).toContain('"invalid_number"');
  expect(stdout).toContain('workflow_run.completed');
  expect(stdout).toMatch(/^webhook.test$/m);
  expect(stdout).toMatch(/"eventType": "webhook.test",\s+"status": "delivered"/);
  expect(stdout).toMatch(/We are open on Saturdays/);
  expect(stdout).toMatch(/roomId,status,.*\s+room_\w+,completed,answered,/);
});

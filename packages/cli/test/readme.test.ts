import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createProgram } from '../src/program.ts';
import { width } from '../src/text.ts';
import { cli, client } from './cli.ts';

const readme = await readFile(path.join(import.meta.dirname, '../README.md'), 'utf8');

const guide = await readFile(new URL('../../../docs/get-started.md', import.meta.url), 'utf8');
/** Blocks of commands, a line each. */
const linesOf = (text: string, fence: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${fence}\n(.*?)\`\`\``, 'gms'))].flatMap(([, block]) =>
    block!.trimEnd().split('\n'),
  );

const hello = await readFile(new URL('../../../examples/agent/sounds/confirmed.wav', import.meta.url));

/** The files that its commands name. */
const files = (number: string) => ({
  'hello.wav': hello,
  'people.csv': 'name,phone,city\nAda,(415) 555-0100,London\nGrace,+14155550186,New York\nNobody,123,\n',
  'register.csv': 'phone\n(650) 555-0104\n+16505550105\n',
  'hours.txt': 'We are open from 9 to 5.',
  'workflow.json': JSON.stringify({
    name: 'Reminder',
    startNodeId: 'later',
    nodes: [
      { id: 'later', type: 'wait', title: 'Wait', seconds: 86_400, next: 'done' },
      { id: 'done', type: 'end', title: 'Done', status: 'completed' },
    ],
  }),
  'campaign.json': JSON.stringify({ name: 'Later', agentId: 'agent_hello', fromNumber: number, lists: [] }),
});

/** The words of a line as a shell would part them. */
const words = (line: string) => [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);

test('the commands of the README, and then of the first guide, do what they say, in 60 columns', async () => {
  const { items } = await client().phoneNumbers.searchAvailable({ provider: 'simulator', country: 'US' });
  const { phoneNumber } = items.at(-1)!;
  const another = items.at(-2)!.phoneNumber;
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-cli-readme-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const given = files(phoneNumber);
  for (const [name, content] of Object.entries(given)) await writeFile(path.join(folder, name), content);
  const env = { XDG_CONFIG_HOME: folder, TRUNKLINE_BASE_URL: '', TRUNKLINE_API_KEY: '' };
  const { url, apiKey } = inject('server');

  let shown = '';
  const idOf = (prefix: string) => shown.match(new RegExp(`\\b${prefix}_[0-9a-f]{32}`, 'g'))?.at(-1) ?? prefix;
  const first = linesOf(readme, 'sh');
  expect(first.length).toBeGreaterThan(25);
  // The guide's reader is asked, and this one can't be.
  const guided = linesOf(guide, 'console cli').map((line) => line.replace(/lists upload .*/, '$& --yes'));
  expect(guided).toHaveLength(7);
  const lines = [...first, ...guided.map((line) => line.replace('+14155550200', another))];
  for (const line of lines) {
    if (line.includes('--data campaign.json'))
      await writeFile(
        path.join(folder, 'campaign.json'),
        given['campaign.json'].replace('[]', JSON.stringify([{ id: idOf('list'), role: 'contacts' }])),
      );
    const [program, ...rest] = words(line).map((word) =>
      word in given
        ? path.join(folder, word)
        : word
            .replace('http://localhost:8080', url)
            .replace('+14155550200', phoneNumber)
            .replace(/^(\w+)_…$/, (_, prefix) => idOf(prefix)),
    );
    expect(program).toBe('trunkline');
    // Whoever types is not as fast as this: by then the run sleeps.
    if (line.startsWith('trunkline runs wake'))
      await expect.poll(async () => (await client().workflowRuns.getRun(idOf('run'))).status).toBe('waiting_schedule');
    const { code, stdout, stderr } = await cli(rest, { env, stdin: apiKey, columns: 60 });
    expect({ line, code, stderr: code ? stderr : '' }).toEqual({ line, code: 0, stderr: '' });
    if (!line.includes('--json'))
      for (const each of stdout.split('\n')) expect(width(each), `${line}\n${each}`).toBeLessThanOrEqual(60);
    shown += stdout;
  }
});

test('every group and command stands in the README, and its help has an example and fits 60 columns', async () => {
  const io = { env: {} } as never;
  const table = new Map([...readme.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name, rest]) => [name, rest]));
  for (const group of createProgram(io).commands) {
    const names = group.commands.map((each) => each.name());
    if (names.length > 0) expect(table.get(group.name())?.split(', ')).toEqual(names);
    else expect(readme).toContain(`\`${group.name()}\``);
    for (const words of [[], ...names.map((name) => [name])]) {
      const { code, stdout } = await cli([group.name(), ...words, '--help'], { columns: 60 });
      expect(code).toBe(0);
      for (const line of stdout.split('\n'))
        expect(width(line), `${group.name()} ${words}\n${line}`).toBeLessThanOrEqual(60);
      if (words.length > 0) expect(stdout).toMatch(new RegExp(`\nExample:\n  trunkline ${group.name()} ${words}`));
    }
  }
  const { stdout } = await cli(['--help'], { columns: 60 });
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
});

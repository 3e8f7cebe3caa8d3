import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

/** The last contract that was released. What it promised, the contract of today holds. */
const RELEASED = '0.1.0';

const here = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const run = promisify(execFile);
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const redocly = (...args: string[]) =>
  run(here('node_modules/.bin/redocly'), args, { cwd: here('.'), env, maxBuffer: 1e9 });

interface Change {
  path: string;
  kind: string;
  impact: string;
  property?: string;
  verdicts: { message: string }[];
  base?: { value?: unknown };
  revision?: { value?: unknown };
}

const released = here(`released/${RELEASED}.yaml`);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-released-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Redocly takes the loss of an answer's value for harmless; a client that waits for it is harmed. */
function lostValues({ property, base, revision }: Change): string[] {
  if (property !== 'enum' || !Array.isArray(base?.value) || !Array.isArray(revision?.value)) return [];
  const left = new Set(revision.value);
  const lost = base.value.filter((value) => !left.has(value));
  return lost.length > 0 ? [`Values were removed: ${lost.join(', ')}.`] : [];
}

/** What breaks clients between the released contract and another, a line each. */
async function breakingChanges(revision: string): Promise<string[]> {
  const report = join(folder, 'report.json');
  const options = ['--config', 'released/redocly.yaml', '--format', 'json', '--fail-on', 'none', '--output', report];
  await redocly('diff', released, revision, ...options, '--skip-rule', 'enum-values-added');
  const { changes } = JSON.parse(await readFile(report, 'utf8')) as { changes: Change[] };
  return changes.flatMap((change) => {
    const told = change.impact === 'major' ? change.verdicts.map(({ message }) => message) : lostValues(change);
    return told.map((message) => `${change.path}: ${message}`);
  });
}

/** The released contract with one edit. */
async function edited(from: string | RegExp, to: string): Promise<string> {
  const text = await readFile(released, 'utf8');
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  const file = join(folder, 'edited.yaml');
  await writeFile(file, changed);
  return file;
}

describe(`the contract of today beside ${RELEASED}`, () => {
  it('breaks no client, but for the mends that are listed with their reason', async () => {
    const bundle = join(folder, 'today.yaml');
    await redocly('bundle', '--config', '../redocly.yaml', 'openapi.yaml', '-o', bundle);
    const mends = parse(await readFile(here(`released/${RELEASED}.mends.yaml`), 'utf8')) as Record<string, string>[];
    for (const { reason } of mends) expect(reason).toMatch(/\w{3}/);
    expect((await breakingChanges(bundle)).sort()).toEqual(mends.map(({ change }) => change).sort());
  });

  it('may say more in an answer, and ask for less', async () => {
    expect(await breakingChanges(await edited(/( +)- no_valid_rows\n/, '$&$1- too_dull\n'))).toEqual([]);
    expect(await breakingChanges(await edited('maxLength: 255', 'maxLength: 256'))).toEqual([]);
  });

  it.each([
    ['an operation', /\n {2}\/v1\/calls\/contact-lists:\n[\s\S]*?(?=\n {2}'?\/)/, '', /removed/],
    ['a status', /\n {8}'409':[\s\S]*?(?=\n {8}'\d)/, '', /Response `409` was removed/],
    [
      "an answer's field",
      /\n {8}processedAt:[\s\S]*?(?=\n {8}\w)/,
      '',
      /`processedAt` of `ContactListUpload` was removed/,
    ],
    ["an answer's value", /\n +- no_valid_rows/, '', /Values were removed: no_valid_rows/],
    ['a parameter', /\n +- name: searchText\n[\s\S]*?example: spring/, '', /searchText/],
  ])(
    'may not lose %s',
    async (_, from, to, told) => {
      const changes = await breakingChanges(await edited(from, to));
      expect(changes.join('\n')).toMatch(told);
    },
    60_000,
  );

  it.each([
    ['a field', /\n +required:\n +- fileName\n( +- )name\n/, '$&$1type\n', /became required: `type`/],
    ['a narrower bound', 'maxLength: 255', 'maxLength: 200', /`maxLength` changed from '255' to '200'/],
    ['another type', /(ContactListName:\n.*\n +type: )string/, '$1integer', /type.*'string'.*'integer'/i],
  ])(
    'may not ask for %s',
    async (_, from, to, told) => {
      const changes = await breakingChanges(await edited(from, to));
      expect(changes.join('\n')).toMatch(told);
    },
    60_000,
  );
});

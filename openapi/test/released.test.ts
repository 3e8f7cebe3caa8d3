import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';
import { BREAKS, type Editable, GROWTH } from './kinds-of-breaks.ts';
import { RELEASED } from './released.ts';
import { type Document, stricterRequests } from './stricter-requests.ts';

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

const released = here(`released/${RELEASED}.closed.yaml`);
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

/** Of YAML or of JSON, which takes longer to read as YAML. */
async function read(file: string): Promise<Document> {
  const text = await readFile(file, 'utf8');
  return file.endsWith('.json') ? JSON.parse(text) : parse(text);
}

/** Everything that breaks clients between the released contract and another: by Redocly, and by what it doesn't see. */
const breaks = async (revision: string): Promise<string[]> => [
  ...(await breakingChanges(revision)),
  ...stricterRequests(await read(released), await read(revision)),
];

describe(`the contract of today beside ${RELEASED}`, () => {
  it('breaks no client, but for the mends that are listed with their reason', async () => {
    const mends = parse(await readFile(here(`released/${RELEASED}.mends.yaml`), 'utf8')) as Record<string, string>[];
    for (const { reason } of mends) expect(reason).toMatch(/\w{3}/);
    expect((await breaks(inject('closed'))).sort()).toEqual(mends.map(({ change }) => change).sort());
  });

  it('may say more in an answer, and ask for less', async () => {
    const { paths, components } = await read(released);
    const grown = { paths, components } as unknown as Editable;
    for (const edit of GROWTH) edit(grown);
    expect(await breaks(await written({ ...(await read(released)), ...grown }))).toEqual([]);
  });
});

describe('a contract that breaks clients', () => {
  let told: string[];
  beforeAll(async () => {
    const document = await read(released);
    // Each stands in a place of its own, so that one comparison tells all.
    for (const [, , edit] of BREAKS) edit(document as unknown as Editable);
    told = await breaks(await written(document));
  });

  it.each(BREAKS.map(([name, message]) => ({ name, message })))('may not have $name', ({ message }) => {
    expect(told.filter((line) => message.test(line))).not.toEqual([]);
  });
});

async function written(document: object): Promise<string> {
  const file = join(folder, 'edited.json');
  await writeFile(file, JSON.stringify(document));
  return file;
}

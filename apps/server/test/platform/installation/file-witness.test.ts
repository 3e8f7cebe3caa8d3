import { appendFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileWitness } from '../../../src/platform/installation/file-witness.ts';
import type { Witness } from '../../../src/platform/installation/witness.ts';
import { witnessSuite } from './witness-suite.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trunkline-witness-'));
});
afterAll(async () => {
  for (const witness of opened) await witness.close();
  await rm(folder, { recursive: true });
});

const at = '2026-11-24T10:00:00.000Z';
const opened: Witness[] = [];
/** Opens a folder; its files are closed when all is done. */
function witnessIn(each: string): Witness {
  const witness = fileWitness(each);
  opened.push(witness);
  return witness;
}

witnessSuite('a folder', () => witnessIn(path.join(folder, 'made')));

test('half a line, which nobody waited for, is no testimony, and takes none with it', async () => {
  const torn = path.join(folder, 'torn');
  const witness = witnessIn(torn);
  await witness.append(1, [{ number: 1, at }]);
  const [name] = await readdir(torn);
  await appendFile(path.join(torn, name!), '\n{"number":2,"at":"th');
  expect(await witnessIn(torn).newest(new Map())).toEqual(new Map([[1, 1]]));
  await witnessIn(torn).append(1, [{ number: 3, at }]);
  expect(await witnessIn(torn).newest(new Map())).toEqual(new Map([[1, 3]]));
});

test('what a server that was frozen writes late, behind higher numbers or into the file of a day before, hides none', async () => {
  const late = path.join(folder, 'late');
  const witness = witnessIn(late);
  await witness.append(1, [{ number: 8, at }]);
  await witness.append(1, [{ number: 5, at }]);
  expect(await witness.newest(new Map())).toEqual(new Map([[1, 8]]));
  await writeFile(path.join(late, '1-2020-01-01.jsonl'), '{"number":9,"at":"then"}\n');
  expect(await witness.newest(new Map())).toEqual(new Map([[1, 9]]));
});

test('a last line that is longer than what is read first is found, and so is the newest where the last day has none', async () => {
  const long = path.join(folder, 'long');
  const words = [{ type: 'opt_out' as const, workspaceId: 'w', to: [' '.repeat(300_000)], at }];
  await witnessIn(long).append(1, [{ number: 7, at, words }]);
  await writeFile(path.join(long, '1-2999-01-01.jsonl'), '\n{"numb');
  expect(await witnessIn(long).newest(new Map())).toEqual(new Map([[1, 7]]));
});

test('files of days that are past are removed, and the last of a slot stays', async () => {
  const old = path.join(folder, 'old');
  await witnessIn(old).append(2, [{ number: 7, at }]);
  for (const name of ['1-2020-01-01.jsonl', '1-2020-01-02.jsonl', '2-2020-01-01.jsonl'])
    await writeFile(path.join(old, name), '{"number":5,"at":"then"}\n');
  await witnessIn(old).cut(new Date('2026-01-01'));
  const left = await readdir(old);
  expect(left).toContain('1-2020-01-02.jsonl');
  expect(left).toHaveLength(2);
});

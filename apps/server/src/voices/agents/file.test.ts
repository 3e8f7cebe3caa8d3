import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { fileAgents } from './file.ts';

const defaults = { headers: {}, connectAt: 'answered', connectTimeoutSeconds: 2, reconnect: false };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agents-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function directoryOf(content: string) {
  const path = join(folder, 'agents.yaml');
  await writeFile(path, content);
  return fileAgents(path, () => undefined);
}

test('finds the agents of a YAML file, and no others', async () => {
  const directory = await directoryOf(
    'agents:\n  - id: reception\n    name: Reception\n    connection: {type: stream, url: wss://agents.example.com}\n',
  );
  expect(await directory.resolve('reception', 'w')).toEqual({
    id: 'reception',
    name: 'Reception',
    connection: { type: 'stream', url: 'wss://agents.example.com', ...defaults },
  });
  expect(await directory.resolve('toString', 'w')).toBeUndefined();
});

test('reads JSON as well', async () => {
  const directory = await directoryOf('{"agents": [{"id": "a", "name": "Anna", "maxConcurrentCalls": 2}]}');
  expect(await directory.resolve('a', 'w')).toEqual({ id: 'a', name: 'Anna', maxConcurrentCalls: 2 });
});

test('an agent that names workspaces is theirs alone', async () => {
  const [ours, other] = [newUuid(), newUuid()];
  const directory = await directoryOf(
    `agents: [{id: a, name: Anna, workspaces: [${toId('ws', ours)}]}, {id: b, name: Bea}, {id: c, name: Cy, workspaces: []}]`,
  );
  const found = async (workspaceId: string) =>
    (await Promise.all(['a', 'b', 'c'].map((id) => directory.resolve(id, workspaceId)))).map((agent) => agent?.name);
  expect(await found(ours)).toEqual(['Anna', 'Bea', undefined]);
  expect(await found(other)).toEqual([undefined, 'Bea', undefined]);
});

test.each([
  ['agents: [{id: a, name: A, workspaces: all}]', /agents\[0\]: workspaces must be a list of workspace IDs/],
  ['', /agents\.yaml: it has no list named agents/],
  ['agents: {a: b}', /no list named agents/],
  ['agents: [{id: a}]', /agents\[0\]: it needs an id and a name/],
  ['agents: [{id: a, name: A}, {id: a, name: B}]', /the agent a is there twice/],
  ['agents: [', /agents\.yaml: /],
])('refuses %j', async (content, message) => {
  await expect(directoryOf(content)).rejects.toThrow(message);
});

test('names a file that is not there', async () => {
  await expect(fileAgents(join(folder, 'missing.yaml'), () => undefined)).rejects.toThrow(/missing\.yaml/);
});

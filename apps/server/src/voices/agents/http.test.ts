import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { httpAgents } from './http.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A directory on loopback, the paths it was asked for, and a clock to hold. */
async function directoryOn(answer: RequestListener, timeoutMs?: number) {
  const asked: string[] = [];
  const listening = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  const time = { now: 0 };
  const directory = httpAgents({
    baseUrl: `http://127.0.0.1:${port}/agents/`,
    clock: { now: () => new Date(time.now) },
    templateFault: () => undefined,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  return { directory, asked, time };
}

const anna = { id: 'anna/1', name: 'Anna' };

test('asks for the agent by its ID, and keeps it for 30 seconds', async () => {
  const { directory, asked, time } = await directoryOn((_, response) => response.end(JSON.stringify(anna)));
  expect(await directory.resolve('anna/1', 'w')).toEqual(anna);
  time.now = 29_999;
  expect(await directory.resolve('anna/1', 'w')).toEqual(anna);
  expect(asked).toEqual(['/agents/anna%2F1']);
  time.now = 30_000;
  await directory.resolve('anna/1', 'w');
  expect(asked).toHaveLength(2);
});

test('an agent that names workspaces is theirs alone, also while it is kept', async () => {
  const [ours, other] = [newUuid(), newUuid()];
  const told = { ...anna, workspaces: [toId('ws', ours)] };
  const { directory, asked } = await directoryOn((_, response) => response.end(JSON.stringify(told)));
  expect(await directory.resolve('anna/1', other)).toBeUndefined();
  expect(await directory.resolve('anna/1', ours)).toEqual(told);
  expect(await directory.resolve('anna/1', other)).toBeUndefined();
  expect(asked).toHaveLength(1);
});

test('404 is no agent, and is asked again', async () => {
  const { directory, asked } = await directoryOn((_, response) => response.writeHead(404).end('{}'));
  expect(await directory.resolve('nobody', 'w')).toBeUndefined();
  expect(await directory.resolve('nobody', 'w')).toBeUndefined();
  expect(asked).toHaveLength(2);
});

test('an ID can not lead out of the directory', async () => {
  const { directory, asked } = await directoryOn((_, response) => response.end(JSON.stringify(anna)));
  expect(await directory.resolve('..', 'w')).toBeUndefined();
  expect(await directory.resolve('.', 'w')).toBeUndefined();
  expect(asked).toEqual([]);
});

test.each<[string, RequestListener]>([
  ['an error', (_, response) => response.writeHead(500).end('secret')],
  ['no JSON', (_, response) => response.end('<html>')],
  ['another agent', (_, response) => response.end(JSON.stringify({ id: 'berta', name: 'Berta' }))],
  ['a cut connection', (request) => request.socket.destroy()],
])('%s is unavailable, and says nothing of the directory', async (_, answer) => {
  const { directory } = await directoryOn(answer);
  await expect(directory.resolve('anna', 'w')).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The agent directory could not be asked. Try again in a moment.',
  });
});

test('a directory that does not answer in time is unavailable', async () => {
  const { directory } = await directoryOn(() => {}, 50);
  await expect(directory.resolve('anna', 'w')).rejects.toMatchObject({ code: 'unavailable' });
});

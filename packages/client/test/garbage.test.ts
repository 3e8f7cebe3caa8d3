import { setTimeout as sleep } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { standIn } from './stand-in.ts';

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

/** Node's fetch lets go of a request while its answer is waited for. */
async function letGarbageGo(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await sleep(10);
    collectGarbage();
  }
}

const reason = new Error('enough');

test.each([
  { what: 'an answer that never begins', sent: undefined },
  { what: 'half an answer', sent: '{"id":' },
])('an abort and a time limit end $what, also if the request is garbage by then', async ({ sent }) => {
  const closed: boolean[] = [];
  const { client, received } = await standIn((response) => {
    response.on('close', () => closed.push(true));
    if (sent) response.writeHead(200, { 'Content-Type': 'application/json' }).write(sent);
  });
  const controller = new AbortController();
  const aborted = client.workspace.get({ signal: controller.signal }).catch((error) => error);
  const late = client.workspace.get({ timeoutMs: 1000, maxRetries: 0 }).catch((error) => error);
  await expect.poll(() => received.length).toBe(2);
  await letGarbageGo();
  controller.abort(reason);
  expect(await aborted).toBe(reason);
  expect(String(await late)).toContain('No whole answer came within 1 s.');
  await expect.poll(() => closed.length).toBe(2);
});

test('an abort ends a stream, also if its request is garbage by then', async () => {
  let closed = false;
  const { client, received } = await standIn((response) => {
    response.on('close', () => {
      closed = true;
    });
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': still here\n\n');
  });
  const controller = new AbortController();
  const next = client.campaigns.streamEvents('cmp_1', { signal: controller.signal }).next();
  const ended = next.catch((error) => error);
  await expect.poll(() => received.length).toBe(1);
  await letGarbageGo();
  controller.abort(reason);
  expect(await ended).toBe(reason);
  await expect.poll(() => closed).toBe(true);
});

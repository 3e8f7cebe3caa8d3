import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { HeardPeers } from './heard-peers.ts';
import type { Target } from './transport.ts';

/** A peer that is there, by how many empty lines it was sent. */
async function startPeer() {
  const socket = createSocket('udp4');
  let lines = 0;
  socket.on('message', () => {
    lines += 1;
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  const target: Target = { transport: 'udp', address: '127.0.0.1', port: socket.address().port };
  return { target, asked: () => lines > 0 };
}

const nobody: Target = { transport: 'udp', address: '127.0.0.1', port: 9 };

test('a machine that refuses is known before anything is sent to it, by each who asks at once', async () => {
  const peers = new HeardPeers();
  for (const asked of await Promise.allSettled([peers.expect(nobody), peers.expect(nobody)]))
    expect(asked).toMatchObject({ status: 'rejected', reason: { code: 'refused' } });
});

test('who was heard within a second is not asked; who was not is', async () => {
  const [heard, other] = await Promise.all([startPeer(), startPeer()]);
  const peers = new HeardPeers();
  peers.note(heard.target);
  await Promise.all([peers.expect(heard.target), peers.expect(other.target)]);
  expect([heard.asked(), other.asked()]).toEqual([false, true]);
  peers.note(nobody);
  await peers.expect(nobody);
});

test('who leaves an INVITE without an answer for a tenth of a second is asked', async () => {
  const peers = new HeardPeers();
  peers.note(nobody);
  await peers.expect(nobody);
  await peers.expect(nobody);
  await sleep(110);
  await expect(peers.expect(nobody)).rejects.toMatchObject({ code: 'refused' });
  peers.note(nobody);
  await peers.expect(nobody);
});

test('connections tell by themselves', async () => {
  await new HeardPeers().expect({ ...nobody, transport: 'tcp' });
});

import { createSocket, Socket } from 'node:dgram';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { isRefused } from './refused-port.ts';

/** Keeps the process busy for so long after each datagram that it sends, between what it reads and its timers. */
function stallAfterSends(ms: number) {
  const send = Socket.prototype.send;
  return vi.spyOn(Socket.prototype, 'send').mockImplementation(function (this: Socket, ...given: unknown[]) {
    setImmediate(() => {
      const end = performance.now() + ms;
      while (performance.now() < end);
    });
    return Reflect.apply(send, this, given);
  });
}

test.each([0, 30, 100])('a refusal is heard by a process that stalls for %i ms', async (ms) => {
  const stalled = stallAfterSends(ms);
  onTestFinished(() => stalled.mockRestore());
  // From here on this runs as the event loop reads.
  await stat('.');
  expect(await isRefused({ address: '127.0.0.1', port: 1 })).toBe(true);
  expect(stalled).toHaveBeenCalled();
});

test('who listens refuses nothing', async () => {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  expect(await isRefused({ address: '127.0.0.1', port: socket.address().port })).toBe(false);
  socket.close();
});

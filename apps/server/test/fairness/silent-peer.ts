import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** A server that takes every connection and never says a word. */
export async function startSilentPeer() {
  const sockets = new Set<Socket>();
  let most = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/silent`,
    /** How many connections are open, and the most that ever were. */
    open: () => sockets.size,
    most: () => most,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export type SilentPeer = Awaited<ReturnType<typeof startSilentPeer>>;

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

const message = (type: string, ...parts: (string | Buffer)[]) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const bytes = (...values: number[]) => Buffer.from(values);
const READY = message('Z', 'I');
const WELCOME = Buffer.concat([message('R', bytes(0, 0, 0, 0)), READY]);
/** A row of one boolean, which is true. */
const YES = Buffer.concat([
  message('T', bytes(0, 1), 'standby\0', Buffer.alloc(6), bytes(0, 0, 0, 16, 0, 1), Buffer.alloc(4, 255), bytes(0, 0)),
  message('D', bytes(0, 1, 0, 0, 0, 1), 't'),
  message('C', 'SELECT 1\0'),
  READY,
]);

/** What lets everybody in as PostgreSQL does, and answers each query as a standby does that is asked whether it is one. */
export async function fakeStandby(): Promise<{ host: string; asked(): number; stop(): void }> {
  const sockets = new Set<Socket>();
  let asked = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(WELCOME);
      socket.on('data', (data) => {
        if (data[0] !== 'Q'.charCodeAt(0)) return;
        asked += 1;
        socket.write(YES);
      });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { host: `127.0.0.1:${port}`, asked: () => asked, stop };
}

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Connection } from '../../../src/foundation/database/connection.ts';

/** What stands before a PostgreSQL: lets clients through, hangs up, says that it starts, isn't there, or says nothing. */
export interface Front {
  connection: Connection;
  /** Ends every connection, and lets nobody through any more. */
  become(state: 'open' | 'starting' | 'gone'): Promise<void>;
  /** Lets nothing pass over the connections that there are, ever, nor over new ones until it becomes something else. */
  fallSilent(): void;
  /** How many it has told that it starts. */
  refused(): number;
}

/** PostgreSQL's ErrorResponse to a client that it doesn't let in yet. */
function startingUp(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0');
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** Puts a TCP port, which is not listened on at first, before a PostgreSQL. */
export async function frontOf({ connectionString }: Connection): Promise<Front> {
  const real = new URL(connectionString);
  const host = decodeURIComponent(real.hostname);
  const target = host.startsWith('/')
    ? { path: `${host}/.s.PGSQL.${real.port || 5432}` }
    : { host, port: Number(real.port || 5432) };
  const sockets = new Set<Socket>();
  const silent = new Set<Socket>();
  let isOpen = false;
  let isSilent = false;
  let refused = 0;
  const refuse = (socket: Socket) => {
    refused += 1;
    socket.end(startingUp());
  };
  const server = createServer((socket) => {
    if (isSilent) {
      silent.add(socket);
      socket.on('error', () => {}).resume();
      return;
    }
    const there = isOpen ? connect(target) : undefined;
    for (const each of [socket, there ?? []].flat()) {
      sockets.add(each);
      each.on('error', () => {}).on('close', () => sockets.delete(each));
    }
    if (there) socket.pipe(there).pipe(socket);
    else socket.once('data', () => refuse(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as { port: number };
  server.close();
  const url = new URL(connectionString);
  // A socket's folder is no host that a URL may be given another for.
  const port = String(address.port);
  const there = `postgresql://${url.username}${url.password && `:${url.password}`}@127.0.0.1:${port}${url.pathname}`;
  return {
    connection: { connectionString: there },
    refused: () => refused,
    fallSilent: () => {
      isSilent = true;
      for (const socket of sockets) {
        silent.add(socket.unpipe().resume());
        sockets.delete(socket);
      }
    },
    become: async (state) => {
      isOpen = state === 'open';
      isSilent = false;
      if (state === 'gone') for (const socket of silent) socket.destroy();
      for (const socket of sockets) socket.destroy();
      if (server.listening === (state !== 'gone')) return;
      if (state === 'gone') server.close();
      else await once(server.listen(address.port, '127.0.0.1'), 'listening');
    },
  };
}

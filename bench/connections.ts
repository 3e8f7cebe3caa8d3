import { connect, type Socket } from 'node:net';

/** Sends requests over kept connections, over each one at a time. It opens another one where none is free. */
export interface Connections {
  /** @returns the whole answer; only `status` is one. */
  send(request: string, status: number): Promise<string>;
  close(): void;
}

/** Connections to a port of this machine. Answers must have a `Content-Length`. */
export function keepConnections(port: number): Connections {
  const all = new Set<Socket>();
  let free: Socket[] = [];
  const open = () => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    all.add(socket);
    // Servers close what has been idle for some seconds.
    socket
      .on('error', () => {})
      .once('close', () => {
        all.delete(socket);
        free = free.filter((other) => other !== socket);
      });
    return socket;
  };
  return {
    send: async (request, status) => {
      const socket = free.pop() ?? open();
      const answer = await exchange(socket, request);
      free.push(socket);
      if (!answer.startsWith(`HTTP/1.1 ${status}`)) throw new Error(answer);
      return answer;
    },
    close: () => {
      for (const socket of all) socket.destroy();
    },
  };
}

function exchange(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = '';
    const end = (error?: Error) => {
      socket.off('data', take).off('error', end).off('close', closed);
      if (error) reject(error);
      else resolve(got);
    };
    const closed = () => end(new Error('The server has closed the connection.'));
    const take = (bytes: Buffer) => {
      got += bytes.toString('latin1');
      const head = got.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(got)?.[1]);
      if (got.length >= head + 4 + length) end();
    };
    socket.on('data', take).on('error', end).on('close', closed);
    socket.write(request);
  });
}

import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import type { Target } from './transport.ts';

/** A machine that is there, and doesn't listen, says so in this time. */
const REFUSAL_MS = 60;

/** A connected socket hears that nobody listens on a port. It sends empty lines, which a peer takes as a keepalive. */
export function isRefused({ address, port }: Pick<Target, 'address' | 'port'>): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv4(address) ? 'udp4' : 'udp6');
    const waits: NodeJS.Timeout[] = [];
    let isOver = false;
    const end = (refused: boolean) => {
      if (isOver) return;
      isOver = true;
      for (const wait of waits) clearTimeout(wait);
      socket.close();
      resolve(refused);
    };
    const fail = (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED');
    socket.on('error', fail);
    socket.connect(port, address, () => {
      // A refusal that JavaScript was too busy to read is the next send's to hear.
      const send = () => !isOver && socket.send('\r\n\r\n', (error) => error && fail(error));
      send();
      waits.push(
        setTimeout(send, REFUSAL_MS / 3),
        // What has come in time is read first, however late this is.
        setTimeout(() => setImmediate(end, false), REFUSAL_MS),
      );
    });
  });
}

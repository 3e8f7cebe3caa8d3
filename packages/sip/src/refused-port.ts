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
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'));
    socket.connect(port, address, () => {
      const send = () => !isOver && socket.send('\r\n\r\n');
      send();
      waits.push(
        setTimeout(send, REFUSAL_MS / 3),
        setTimeout(() => end(false), REFUSAL_MS),
      );
    });
  });
}

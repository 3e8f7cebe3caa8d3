import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';

/** An established connection, in Linux's table, and its timer that sends again what nobody has said to have got. */
const ESTABLISHED = '01';
const RETRANSMITS = '01';

export interface Connection {
  localPort?: number | undefined;
  remotePort?: number | undefined;
  remoteAddress?: string | undefined;
}

/**
 * Whether the kernel at the other end of a TCP connection still takes what we send: `no` if it was sent again and again
 * without an answer. A process that is frozen has a kernel that answers, also where that has no more room. Only Linux tells
 * it; nothing elsewhere, or of a connection that is closed.
 */
export async function tcpTakes(connection: Connection): Promise<'yes' | 'no' | undefined> {
  for (const file of ['/proc/thread-self/net/tcp', '/proc/thread-self/net/tcp6']) {
    const found = readTcpTable(await readFile(file, 'latin1').catch(() => ''), connection);
    if (found) return found;
  }
  return undefined;
}

/** Reads a line of Linux's table of connections (its `proc_net_tcp.rst`): addresses and ports in hex, `tx_queue:rx_queue timer:when retransmits`. */
export function readTcpTable(
  table: string,
  { localPort, remotePort, remoteAddress }: Connection,
): 'yes' | 'no' | undefined {
  if (!localPort || !remotePort || !remoteAddress) return undefined;
  const ports = [localPort, remotePort].map((port) => port.toString(16).toUpperCase().padStart(4, '0'));
  const address = isIPv4(remoteAddress) ? addressInTable(remoteAddress) : '[0-9A-F]{32}';
  const line = `:${ports[0]} ${address}:${ports[1]} ${ESTABLISHED} [0-9A-F]+:[0-9A-F]+ (\\w\\w):[0-9A-F]+ ([0-9A-F]+)`;
  const [, timer, again] = new RegExp(line).exec(table) ?? [];
  if (timer === undefined) return undefined;
  return timer === RETRANSMITS && Number.parseInt(again!, 16) > 1 ? 'no' : 'yes';
}

/** IPv4 as a number of the machine, which is a little-endian one. */
const addressInTable = (address: string): string =>
  Buffer.from(address.split('.').map(Number).reverse()).toString('hex').toUpperCase();

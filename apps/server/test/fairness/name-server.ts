import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

const A = 1;
const HEADER = 12;

/**
 * A name server for tests: gives names their IPv4 address, tells others that there is no such name, and leaves those that
 * begin with `dead` without an answer.
 * @param ttlSeconds how long an address holds
 */
export async function startNameServer(addresses: Record<string, string>, ttlSeconds = 60) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  let isDead = false;
  socket.on('message', (message, from) => {
    const { name, end } = nameIn(message);
    const type = message.readUInt16BE(end);
    asked.push(`${type === A ? 'A' : 'AAAA'} ${name}`);
    if (isDead || name.startsWith('dead')) return;
    const address = addresses[name];
    const answers = address !== undefined && type === A ? 1 : 0;
    const header = Buffer.from(message.subarray(0, HEADER));
    header.writeUInt16BE(address === undefined ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(answers, 6);
    header.fill(0, 8);
    const question = message.subarray(HEADER, end + 4);
    // The name by its place, A, IN, for so many seconds (at most 255), four bytes.
    const record = Buffer.from([
      0xc0,
      HEADER,
      0,
      A,
      0,
      1,
      0,
      0,
      0,
      ttlSeconds,
      0,
      4,
      ...(address ?? '').split('.').map(Number),
    ]);
    socket.send(Buffer.concat([header, question, ...(answers ? [record] : [])]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    /** What it was asked, such as `A crm.example`. */
    asked,
    /** Has it answer nobody, or all again. */
    beDead: (dead: boolean) => {
      isDead = dead;
    },
    stop: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

function nameIn(message: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

const A = 1;
const SRV = 33;
const HEADER = 12;

/**
 * A name server for tests: gives names their IPv4 address, tells others that there is no such name, and leaves those that
 * begin with `dead` without an answer.
 * @param ttlSeconds how long an address holds
 * @param services the servers of a service, each of the same priority and weight
 */
export async function startNameServer(
  addresses: Record<string, string>,
  ttlSeconds = 60,
  services: Record<string, { name: string; port: number }[]> = {},
) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  let isDead = false;
  socket.on('message', (message, from) => {
    const { name, end } = nameIn(message);
    const type = message.readUInt16BE(end);
    asked.push(`${type === A ? 'A' : type === SRV ? 'SRV' : 'AAAA'} ${name}`);
    if (isDead || name.startsWith('dead')) return;
    const address = addresses[name];
    const header = Buffer.from(message.subarray(0, HEADER));
    const servers = services[name];
    const answers =
      type === SRV
        ? (servers ?? []).map(srvRecord)
        : type === A && address
          ? [record(A, ttlSeconds, bytesOf(address))]
          : [];
    header.writeUInt16BE(address === undefined && !servers ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(answers.length, 6);
    header.fill(0, 8);
    const question = message.subarray(HEADER, end + 4);
    socket.send(Buffer.concat([header, question, ...answers]), from.port, from.address);
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

const bytesOf = (address: string) => Buffer.from(address.split('.').map(Number));

/** A record of the name that was asked for, which stands in the question, for at most 255 seconds. */
function record(type: number, ttlSeconds: number, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xc0, HEADER, 0, type, 0, 1, 0, 0, 0, ttlSeconds, 0, data.length]), data]);
}

function srvRecord({ name, port }: { name: string; port: number }): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return record(
    SRV,
    60,
    Buffer.concat([Buffer.from([0, 1, 0, 1, port >> 8, port & 255]), ...labels, Buffer.from([0])]),
  );
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

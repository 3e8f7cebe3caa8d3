import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createUserAgent } from '../src/index.ts';
import { TestClock } from './test-clock.ts';

async function start(isKnown: () => boolean) {
  const clock = new TestClock();
  const agent = await createUserAgent({ host: '127.0.0.1', port: 0, clock, isKnown });
  onTestFinished(() => agent.stop(0));
  const open = async () => {
    const socket: Socket = connect(agent.port, '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    return { socket, closed };
  };
  return { clock, open };
}

const options = [
  'OPTIONS sip:us@127.0.0.1 SIP/2.0',
  'Via: SIP/2.0/TCP 127.0.0.1:9;branch=z9hG4bK1',
  'From: <sip:them@example.com>;tag=1',
  'To: <sip:us@127.0.0.1>',
  'Call-ID: 1',
  'CSeq: 1 OPTIONS',
  'Max-Forwards: 70',
  'Content-Length: 0',
  '\r\n',
].join('\r\n');

test('a stranger has so many connections, and loses those on which no message comes', async () => {
  const { clock, open } = await start(() => false);
  const silent = await Promise.all(Array.from({ length: 19 }, open));
  const talking = await open();
  talking.socket.write(options);
  await once(talking.socket, 'data');
  const oneTooMany = await open();
  await oneTooMany.closed;
  for (const { socket } of silent) socket.write('\r\n\r\n');
  for (const { socket } of silent) await once(socket, 'data');
  await clock.advance(10_000);
  await Promise.all(silent.map(({ closed }) => closed));
  expect(talking.socket.destroyed).toBe(false);
  const again = await open();
  again.socket.write(options);
  await once(again.socket, 'data');
});

test('a known peer may be silent, and has more', async () => {
  const { clock, open } = await start(() => true);
  const sockets = await Promise.all(Array.from({ length: 40 }, open));
  for (const { socket } of sockets) {
    socket.write('\r\n\r\n');
    await once(socket, 'data');
  }
  await clock.advance(10_000);
  for (const { socket } of sockets) {
    socket.write('\r\n\r\n');
    await once(socket, 'data');
  }
});

// The least that Node can do for a call: three datagrams sent, those that answer received, nothing of them read but whose
// they are. It has no timers, keeps nothing, and would repeat nothing.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { settingsOf, tell } from '../child.ts';
import type { Calls, CallsFound } from './caller.ts';

const { callee } = settingsOf<{ callee: number }>();
const socket = createSocket('udp4');
socket.bind(0, '127.0.0.1');
await once(socket, 'listening');
const { port } = socket.address();
/** What is to be done at each 200 of a call. */
const calls = new Map<string, () => void>();
let lastId = 0;

socket.on('message', (bytes) => {
  const at = bytes.indexOf('Call-ID: ') + 9;
  if (bytes[8] === 0x32) calls.get(bytes.toString('latin1', at, bytes.indexOf('\r\n', at)))?.();
});

function send(method: string, callId: string, toTag: string): void {
  const to = `sip:service@127.0.0.1:${callee}`;
  const lines = [
    `${method} ${to} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${method}${callId}`,
    'Max-Forwards: 70',
    `From: <sip:caller@127.0.0.1>;tag=${callId}`,
    `To: <${to}>${toTag}`,
    `Call-ID: ${callId}`,
    `CSeq: ${method === 'BYE' ? 2 : 1} ${method}`,
    `Contact: <sip:caller@127.0.0.1:${port}>`,
    'Content-Length: 0',
  ];
  socket.send(`${lines.join('\r\n')}\r\n\r\n`, callee, '127.0.0.1');
}

const one = (holdMs: number) =>
  new Promise<void>((resolve) => {
    lastId += 1;
    const callId = `${process.pid}-${lastId}`;
    const hungUp = () => {
      calls.delete(callId);
      resolve();
    };
    const answered = () => {
      calls.set(callId, hungUp);
      send('ACK', callId, ';tag=1');
      setTimeout(() => send('BYE', callId, ';tag=1'), holdMs);
    };
    calls.set(callId, answered);
    send('INVITE', callId, '');
  });

async function place({ count, perSecond, holdMs }: Calls): Promise<CallsFound> {
  const ended: Promise<void>[] = [];
  const [cpu, since] = [process.cpuUsage(), performance.now()];
  while (ended.length < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - since) / 1000) * perSecond));
    while (ended.length < due) ended.push(one(holdMs));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all(ended);
  const { user, system } = process.cpuUsage(cpu);
  return { completed: count, mostUp: 0, cpuMs: (user + system) / 1000, seconds: 0, answeredP99: 0, kib: 0 };
}

tell(port, (given) => place(given as Calls));

import { expect, test } from 'vitest';
import { readTcpTable } from './tcp-takes.ts';

// 10.7.0.1:43008 to 10.7.0.2:9000 as Linux 6 tells of it: idle, sending again, at a peer whose buffer is full.
const table = (tail: string) => `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
   0: 00000000:2328 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 236 1
   1: 0100070A:A800 0300070A:2328 01 00000000:00000000 00:00000000 00000000     0        0 238 1
   2: 0100070A:A800 0200070A:2328 01 ${tail}     0        0 237 2\n`;
const connection = { localPort: 43_008, remotePort: 9000, remoteAddress: '10.7.0.2' };

test.each([
  ['00000000:00000000 00:00000000 00000000', 'yes'],
  ['0000014A:00000000 01:00000014 00000000', 'yes'],
  ['0000414A:00000000 01:00000214 00000005', 'no'],
  ['0003414A:00000000 04:00000214 00000005', 'yes'],
])('a connection with %s takes: %s', (tail, takes) => {
  expect(readTcpTable(table(tail), connection)).toBe(takes);
});

test('of another connection nothing is known', () => {
  const text = table('0000414A:00000000 01:00000214 00000005');
  expect(readTcpTable(text, { ...connection, remotePort: 9001 })).toBeUndefined();
  expect(readTcpTable(text, { ...connection, remoteAddress: '10.7.0.4' })).toBeUndefined();
  expect(readTcpTable(text, { ...connection, localPort: undefined })).toBeUndefined();
  expect(readTcpTable('', connection)).toBeUndefined();
});

import type { IncomingCall } from '@trunkline/sip';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { systemClock } from '../../../foundation/values/clock.ts';
import { ArrivingCalls } from './arriving-calls.ts';

test('calls to nobody are each refused, and of many from one address few are logged', async () => {
  const lines: { source: string; times: number }[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const arriving = new ArrivingCalls(systemClock, log);
  arriving.onInbound(() => {});
  const statuses: number[] = [];
  const call = (address: string) =>
    ({
      ...{ request: { uri: 'sip:+14155550100@us' }, source: { address }, username: undefined },
      reject: (status: number) => statuses.push(status),
    }) as unknown as IncomingCall;
  const nobody = { read: async () => 'unknown' as const };
  for (let at = 0; at < 1000; at += 1) await arriving.receive(call('203.0.113.1'), nobody, false);
  await arriving.receive(call('203.0.113.2'), nobody, false);
  expect(statuses).toEqual(Array.from({ length: 1001 }, () => 404));
  expect(lines.map(({ source, times }) => [source.at(-1), times])).toEqual([
    ...[1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((times) => ['1', times]),
    ['2', 1],
  ]);
});

import { pino } from 'pino';
import { expect, test } from 'vitest';
import { newUuid, toId } from '../values/ids.ts';
import { maskLine, maskNumbers } from './mask-numbers.ts';

test.each([
  ['+14155550100 declined', '+***00 declined'],
  ['no route to 14155550123.', 'no route to ***23.'],
  ['sip:+14155550100@trunk.example.com:5060', 'sip:+***00@trunk.example.com:5060'],
  ['<sip:14155550100@203.0.113.7;user=phone>', '<sip:***00@203.0.113.7;user=phone>'],
  ['sip:9w0014155550100@trunk.example.com', 'sip:9w***00@trunk.example.com'],
  ['tel:+1-415-555-0100', 'tel:+***00'],
  ['sip:1-415-555-0100@203.0.113.7:5060;user=phone', 'sip:***00@203.0.113.7:5060;user=phone'],
  ['sip:(030)123.4567@192.168.100.200', 'sip:(***67@192.168.100.200'],
  ['+1 (415) 555-0100, +49 30 1234567', '+***00, +***67'],
  ['https://a.example.com/?to=%2B14155550100&from=14155550101', 'https://a.example.com/?to=+***00&from=***01'],
  ['body=to%3D14155550100', 'body=to%3D***00'],
  ['value "+4930123456" is out of range', 'value "+***56" is out of range'],
])('%s', (text, shown) => {
  expect(maskNumbers(text)).toBe(shown);
});

test.each([
  '2026-11-22T17:36:14.123+00:00',
  'at place (file:///srv/calls/place-calls.ts:159:13)',
  'sip:203.0.113.107:5060 and sip:anna@192.168.100.200',
  'PostgreSQL 18.4 at 203.0.113.7:5432 after 60000 ms, 0.12345678 of it',
  '12345678-1234-1234-1234-123456789012',
  'room_01234567890123456789012345678901',
])('%s stays', (text) => {
  expect(maskNumbers(text)).toBe(text);
});

test('IDs stay', () => {
  for (let count = 0; count < 10_000; count += 1) {
    const id = newUuid();
    const text = `${id} ${toId('room', id)}`;
    expect(maskNumbers(text)).toBe(text);
  }
});

test('a line stays JSON: errors with their causes, and numbers that are no texts, are masked; the time is not', () => {
  const lines: string[] = [];
  const hooks = { streamWrite: maskLine };
  const log = pino({ base: null, hooks }, { write: (line: string) => void lines.push(line) });
  const cause = new Error('no route to 14155550101');
  log.error({
    err: new Error('+14155550100 failed', { cause }),
    from: 14155550102,
    calls: 2,
    deep: [{ to: '+14155550103' }],
  });
  const line = JSON.parse(lines[0]!);
  expect(lines[0]).not.toMatch(/555/);
  expect(lines[0]).toMatch(/\}\n$/);
  expect(line).toMatchObject({ from: '***02', calls: 2, deep: [{ to: '+***03' }], time: expect.any(Number) });
  expect(line.err.message).toBe('+***00 failed: no route to ***01');
});

import { expect, test } from 'vitest';
import { parseReasons, q850CauseOf, writeReason } from './reason.ts';

test('reasons are read from several headers and lists, and what is none is left out', () => {
  const reasons = parseReasons([
    'SIP ;cause=200 ;text="Call completed elsewhere", q.850;cause=16',
    'Q.850;cause=none',
    ';;=',
  ]);
  expect(reasons.slice(0, 2)).toEqual([
    { protocol: 'SIP', cause: 200, text: 'Call completed elsewhere' },
    { protocol: 'Q.850', cause: 16 },
  ]);
  expect(q850CauseOf(reasons)).toBe(16);
  expect(parseReasons([writeReason({ protocol: 'Q.850', cause: 34, text: 'No "circuit"' })])).toEqual([
    { protocol: 'Q.850', cause: 34, text: 'No "circuit"' },
  ]);
});

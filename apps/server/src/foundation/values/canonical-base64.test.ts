import { expect, test } from 'vitest';
import { canonicalBytes } from './canonical-base64.ts';

test('of all texts that decode to some bytes one is taken', () => {
  expect(canonicalBytes('AQI=', 'base64')).toEqual(Buffer.from([1, 2]));
  for (const text of ['AQJ=', 'AQI', 'AQI==', 'AQ I=', 'AQI=\n', 'AQI=x', '!AQI='])
    expect(canonicalBytes(text, 'base64'), text).toBeUndefined();
  expect(canonicalBytes('-_8', 'base64url')).toEqual(Buffer.from([0xfb, 0xff]));
  for (const text of ['-_9', '+_8', '-/8', '-_8=']) expect(canonicalBytes(text, 'base64url'), text).toBeUndefined();
});

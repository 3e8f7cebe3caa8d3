import { expect, test } from 'vitest';
import { allowlistFaults, refuse, terminationFaults } from './check-sip-config.ts';

test('a trunk is a host or an IP address, with a port that exists', () => {
  for (const url of [
    'sip:a.example.com:5061',
    'sips:[2001:db8::1]:5061',
    '203.0.113.7',
    'host;transport=tls',
    'a.b.:1',
  ]) {
    expect(terminationFaults(url, '/x'), url).toEqual([]);
  }
  for (const url of ['sip:a.example.com:0', 'a:65536', 'a..b', '-a.example', '[::zz]', '[]', `${'a'.repeat(64)}.com`]) {
    expect(terminationFaults(url, '/x'), url).toHaveLength(1);
  }
});

test('an allowlist holds IP addresses and ranges', () => {
  expect(allowlistFaults(['203.0.113.0/28', '::1', '2001:db8::/32', '1.2.3.4'], '/x')).toEqual([]);
  expect(
    allowlistFaults(['1.2.3', '1.2.3.4/33', '::/129', '1.2.3.4', '1.2.3.4/1/2'], '/x').map(({ path }) => path),
  ).toEqual(['/x/0', '/x/1', '/x/2', '/x/4']);
});

test('faults refuse the request, and none let it pass', () => {
  expect(() => refuse([])).not.toThrow();
  expect(() => refuse([{ path: '/body/a', message: 'must be b' }])).toThrow('body/a must be b');
});

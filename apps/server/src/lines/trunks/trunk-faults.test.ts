import { expect, test } from 'vitest';
import { refuse } from '../../foundation/values/service-error.ts';
import { addressFaults, allowlistFaults, textFaults } from './trunk-faults.ts';

const guard = { isOpenHost: (host: string) => host !== '10.0.0.1', isAllowedHost: () => false };

test('a trunk is a host or an IP address, with a port that exists', () => {
  for (const url of [
    'sip:a.example.com:5061',
    'sips:[2001:db8::1]:5061',
    '203.0.113.7',
    'host;transport=tls',
    'a.b.:1',
  ]) {
    expect(addressFaults(url, '/x', guard), url).toEqual([]);
  }
  for (const url of ['sip:a.example.com:0', 'a:65536', 'a..b', '-a.example', '[::zz]', '[]', `${'a'.repeat(64)}.com`]) {
    expect(addressFaults(url, '/x', guard), url).toHaveLength(1);
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

test.each([
  ['a.example.com;maddr=10.0.0.1', 'must have no parameter maddr'],
  ['a.example.com;lr', 'must have no parameter lr'],
  ['a.example.com;transport=udp;maddr=b', 'must have no parameter maddr'],
  ['a.example.com;transport=ws', 'must have no parameter transport'],
  ['sip:10.0.0.1:5060', 'must not lead into the network of the server'],
  ['a.example.com;transport=udp', 'must not contradict the transport', 'tls'],
])('%s %s', (url, message, transport = 'auto') => {
  expect(addressFaults(url, '/x', guard, transport)).toEqual([{ path: '/x', message }]);
});

test('what separates lines is no text of a trunk', () => {
  for (const text of ['a\r\nVia: b', 'a\u0000', 'a\u0085b', 'a\u2028b'])
    expect(textFaults(text, '/x'), text).toHaveLength(1);
  for (const text of [null, undefined, '', 'größe "quoted"']) expect(textFaults(text, '/x')).toEqual([]);
});

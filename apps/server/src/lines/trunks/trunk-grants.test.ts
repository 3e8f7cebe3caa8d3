import { expect, test } from 'vitest';
import { coverage, covers, hostOf, ungranted } from './trunk-grants.ts';

test.each([
  ['sip:Carrier.Example:5060', 'carrier.example'],
  ['sips:carrier.example.;transport=tls', 'carrier.example'],
  ['[2001:DB8::1]:5061', '2001:db8::1'],
  ['203.0.113.5:5080', '203.0.113.5'],
  ['[64:ff9b::CB00:7105]:5060', '203.0.113.5'],
])('the host of %s is %s', (uri, host) => expect(hostOf(uri)).toBe(host));

test.each([
  ['carrier.example', 'carrier.example', true],
  ['carrier.example', 'sub.carrier.example', false],
  ['203.0.113.0/24', '203.0.113.5', true],
  ['203.0.113.0/24', '203.0.113.128/25', true],
  ['203.0.113.0/25', '203.0.113.0/24', false],
  ['203.0.113.5', '203.0.113.5/32', true],
  ['203.0.113.5', '203.0.113.4/31', false],
  ['0.0.0.0/0', '::1', false],
  ['2001:db8::/32', '2001:0DB8:0::7', true],
  ['2001:db8::1', '2001:db8:0::1', true],
  ['203.0.113.0/24', 'carrier.example', false],
])('a grant of %s holds for %s: %s', (grant, wanted, holds) => {
  expect(covers(grant, wanted)).toBe(holds);
  expect(coverage(['other.example', '192.0.2.0/31', grant])(wanted)).toBe(holds);
});

test('what no grant covers is named where it stands', () => {
  const trunk = {
    termination_url: 'sip:carrier.example:5061',
    outbound_proxy: '203.0.113.9',
    ip_allowlist: ['203.0.113.0/28', '198.51.100.1'],
  };
  expect(ungranted(trunk, coverage(['carrier.example', '203.0.113.0/24']))).toEqual([
    { field: 'ipAllowlist/1', address: '198.51.100.1' },
  ]);
  expect(ungranted({ ...trunk, outbound_proxy: null, ip_allowlist: [] }, coverage([]))).toEqual([
    { field: 'terminationUrl', address: 'carrier.example' },
  ]);
});

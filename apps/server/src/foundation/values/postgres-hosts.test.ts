import { expect, test } from 'vitest';
import { faultOfHosts, hostsOf } from './postgres-hosts.ts';

test.each([
  ['postgres://role:a,b@one:5432,[::1]:5433,%2Frun%2Fpg/db?sslmode=require', ['one:5432', '[::1]:5433', '%2Frun%2Fpg']],
  ['postgresql://role@one/db?sslmode=require', ['one']],
])('%s has a URL for each host, and nothing wrong', (url, hosts) => {
  const [before, behind] = url.split(hosts.join());
  expect(hostsOf(url)).toEqual(hosts.map((host) => `${before}${host}${behind}`));
  expect(faultOfHosts(url)).toBeUndefined();
});

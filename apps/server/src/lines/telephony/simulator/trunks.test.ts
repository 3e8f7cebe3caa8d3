import { expect, test } from 'vitest';
import { probeSimulatedTrunk } from './trunks.ts';

test.each([
  ['ok.sim', true, 'ok'],
  ['sip:trunk@ok.sim:5060;transport=tcp', true, 'ok'],
  ['auth.sim', false, 'credentials_rejected'],
  ['sip:DEAD.sim', false, 'unreachable'],
  ['sips:tls.sim:5061', false, 'tls_failure'],
  ['sip.example.com', true, 'simulated'],
  ['notdead.sim', true, 'simulated'],
  ['second.dead.sim', false, 'unreachable'],
])('%s is valid: %s, because %s', (terminationUrl, valid, reason) => {
  expect(probeSimulatedTrunk({ terminationUrl })).toMatchObject({ valid, reason });
});

test('credentials are judged apart', () => {
  const trunk = { username: 'anna' };
  const credentials = (terminationUrl: string) => probeSimulatedTrunk({ ...trunk, terminationUrl }).credentials;
  expect(credentials('ok.sim')).toBe('verified');
  expect(credentials('auth.sim')).toBe('rejected');
  expect(credentials('sip.example.com')).toBe('unverified');
  expect(probeSimulatedTrunk({ terminationUrl: 'ok.sim' }).credentials).toBe('not_given');
});

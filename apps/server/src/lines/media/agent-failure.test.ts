import { expect, test } from 'vitest';
import { OutboundError } from '../../foundation/outbound-http/outbound-error.ts';
import { agentFailure } from './agent-failure.ts';

test.each([
  ['ENOTFOUND', 'dns_failure'],
  ['EAI_AGAIN', 'dns_failure'],
  ['ETIMEOUT', 'dns_failure'],
  ['ESERVFAIL', 'dns_failure'],
  ['ETIMEDOUT', 'timed_out'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_failure'],
  ['CERT_HAS_EXPIRED', 'tls_failure'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_failure'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_failure'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_failure'],
  ['EPROTO', 'tls_failure'],
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'refused'],
  ['HPE_INVALID_CONSTANT', 'refused'],
])('%s is a %s', (code, reason) => {
  expect(agentFailure(Object.assign(new Error('It failed'), { code }))).toEqual({
    reason,
    code,
    text: "The agent can't be connected to: It failed",
  });
});

test('an address that is refused, and what has no code', () => {
  expect(agentFailure(new OutboundError('blocked_address', 'No'))).toMatchObject({ reason: 'address_refused' });
  const { code, ...failure } = agentFailure(new Error('Invalid Sec-WebSocket-Accept header'));
  expect([code, failure.reason]).toEqual([undefined, 'refused']);
  // Several addresses that all refuse: Node's error of that has a code, and no message.
  const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
  expect(agentFailure(refused).text).toBe("The agent can't be connected to: ECONNREFUSED");
});

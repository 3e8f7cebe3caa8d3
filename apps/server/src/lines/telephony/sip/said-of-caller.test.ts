import { parseMessage, type SipRequest } from '@trunkline/sip';
import { expect, test } from 'vitest';
import { saidOfCaller } from './said-of-caller.ts';

const invite = (...lines: string[]) =>
  parseMessage(
    Buffer.from(
      [
        'INVITE sip:+14155550100@sip.example SIP/2.0',
        'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1',
        'From: <sip:+14155550177@carrier.example>;tag=a',
        'To: <sip:+14155550100@sip.example>',
        'Call-ID: a',
        'CSeq: 1 INVITE',
        ...lines,
        'Content-Length: 0\r\n\r\n',
      ].join('\r\n'),
    ),
  ) as SipRequest;

test.each([
  [['P-Attestation-Indicator: B'], { attestation: 'B' }],
  [['P-Attestation-Indicator: none'], undefined],
  [
    ['P-Asserted-Identity: <sip:+14155550177;verstat=TN-Validation-Passed@a.example>'],
    { verstat: 'TN-Validation-Passed' },
  ],
  [['P-Asserted-Identity: <tel:+14155550177;verstat=No-TN-Validation>'], { verstat: 'No-TN-Validation' }],
  [
    ['Diversion: <sip:+14155550188@a.example>;reason=no-answer', 'Diversion: <sip:+14155550199@a.example>'],
    { diversion: '+14155550188' },
  ],
  [['Diversion: nobody'], undefined],
  [
    ['X-Customer-Id: 7', 'X-Other: 8', `X-Long: ${'a'.repeat(300)}`],
    { headers: { 'X-Customer-Id': '7', 'x-long': 'a'.repeat(255) } },
  ],
  [[], undefined],
])('of an INVITE with %j the agent is told %j', (lines, said) => {
  expect(saidOfCaller(invite(...lines), ['X-Customer-Id', 'x-long', 'X-None'])).toEqual(said);
});

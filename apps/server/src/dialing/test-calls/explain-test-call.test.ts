import { describe, expect, test } from 'vitest';
import type { TestCallMedia } from '../../lines/telephony/call-outcome.ts';
import { explainTestCall, type TestCallFacts } from './explain-test-call.ts';

const good: TestCallMedia = {
  codec: 'PCMU',
  trunkAddress: '203.0.113.7:5060',
  localAddress: '198.51.100.5:20000',
  remoteAddress: '8.8.4.4:14022',
  heardFrom: '8.8.4.4:14022',
  packetsSent: 750,
  packetsReceived: 748,
  packetsLost: 0,
};
const publicly = { trunkAddress: '8.8.8.8:5060', localAddress: '8.8.4.5:20000' };
const privately = { trunkAddress: '8.8.8.8:5060', localAddress: '10.0.0.5:20000' };
const silent = { ...good, ...publicly, packetsReceived: 0 };

/** An answered call, but for what is given. */
const facts = (given: Partial<TestCallFacts> = {}): TestCallFacts => ({
  ...{ simulated: false, wasReturned: false, outcome: 'answered', endedBy: 'callee', hasRung: true, media: good },
  talkedMs: 15_000,
  ...given,
});
/** A call that nobody answered. */
const failed = (given: Partial<TestCallFacts>): TestCallFacts => {
  const { talkedMs: _, ...rest } = facts({ endedBy: 'error', hasRung: false, ...given });
  return rest;
};
const media = (given: TestCallMedia) => facts({ media: { ...good, ...given } });
const without = <K extends keyof TestCallFacts>(from: TestCallFacts, name: K) => {
  const { [name]: _, ...rest } = from;
  return rest as TestCallFacts;
};

const told: [string, TestCallFacts, string, string[]][] = [
  ['sound both ways', facts(), 'works', ['ok']],
  ['a NAT in between', media({ heardFrom: '8.8.4.9:4000' }), 'works', ['ok', 'heard_elsewhere']],
  ['another port of the same address', media({ heardFrom: '8.8.4.4:4000' }), 'works', ['ok']],
  ['IPv6', media({ heardFrom: '[2a00::1]:4000', remoteAddress: '[2a00::1]:4002' }), 'works', ['ok']],
  ['no packet', facts({ media: silent, endedBy: 'error' }), 'fault', ['no_sound_received']],
  [
    'no packet, and an address of the own network',
    facts({ media: { ...silent, ...privately } }),
    'fault',
    ['private_address', 'no_sound_received'],
  ],
  [
    'no packet from a trunk in the own network',
    facts({ media: { ...silent, ...privately, trunkAddress: '10.0.0.9:5060' } }),
    'fault',
    ['no_sound_received'],
  ],
  ['hung up at once', facts({ media: silent, talkedMs: 900 }), 'inconclusive', ['too_short']],
  ['nothing sent', media({ packetsSent: 0 }), 'fault', ['no_sound_sent']],
  ['loss on the way here', media({ packetsLost: 40 }), 'fault', ['sound_lost']],
  ['a little loss', media({ packetsLost: 20, packetsLostByPeer: 20 }), 'works', ['ok']],
  ['loss both ways', media({ packetsLost: 400, packetsLostByPeer: 500 }), 'fault', ['sound_lost', 'sound_lost_there']],
  ['a description that could not be taken', facts({ outcome: 'trunk_error' }), 'fault', ['no_common_codec']],
  ['a server that went down in the talk', without(facts(), 'media'), 'inconclusive', ['server_lost']],
  ['a server that went down before', without(failed({ outcome: 'unknown' }), 'media'), 'inconclusive', ['server_lost']],
  [
    'a server that went down while it rang',
    without(failed({ outcome: 'cancelled', sipStatus: 487 }), 'media'),
    'inconclusive',
    ['server_lost'],
  ],
  ['a thread of sound that died', facts({ media: publicly, endedBy: 'error' }), 'inconclusive', ['server_lost']],
  [
    'a thread of sound that died before the answer',
    failed({ outcome: 'agent_error', sipStatus: 487, media: publicly }),
    'inconclusive',
    ['server_lost'],
  ],
  ['silence after the INVITE', failed({ outcome: 'unknown', media: publicly }), 'fault', ['no_response']],
  [
    'silence, and an address of the own network',
    failed({ outcome: 'unknown', media: privately }),
    'fault',
    ['private_address', 'no_response'],
  ],
  ['401', failed({ outcome: 'trunk_error', sipStatus: 401 }), 'fault', ['credentials_rejected']],
  [
    '403',
    failed({ outcome: 'trunk_error', sipStatus: 403, sipReason: 'Caller ID not allowed' }),
    'fault',
    ['forbidden'],
  ],
  [
    'a 403 of a full trunk',
    failed({ outcome: 'trunk_error', sipStatus: 403, sipReason: 'User channel limit exceeded' }),
    'fault',
    ['no_room'],
  ],
  ['503', failed({ outcome: 'trunk_error', sipStatus: 503 }), 'fault', ['no_room']],
  ['500', failed({ outcome: 'trunk_error', sipStatus: 500 }), 'fault', ['trunk_failed']],
  ['nothing left', failed({ outcome: 'trunk_error' }), 'fault', ['trunk_unreachable']],
  ['404', failed({ outcome: 'invalid_number', sipStatus: 404 }), 'fault', ['number_format']],
  ['488', failed({ outcome: 'trunk_error', sipStatus: 488 }), 'fault', ['no_common_codec']],
  ['415', failed({ outcome: 'trunk_error', sipStatus: 415 }), 'fault', ['no_common_codec']],
  ['606', failed({ outcome: 'trunk_error', sipStatus: 606 }), 'fault', ['no_common_codec']],
  ['480 without a ring', failed({ outcome: 'no_answer', sipStatus: 480 }), 'inconclusive', ['never_rang']],
  ['nobody at home', failed({ outcome: 'no_answer', hasRung: true }), 'inconclusive', ['no_answer']],
  ['busy', failed({ outcome: 'busy', sipStatus: 486 }), 'inconclusive', ['busy']],
  ['603', failed({ outcome: 'declined', sipStatus: 603 }), 'inconclusive', ['declined']],
  ['ended by us', failed({ outcome: 'cancelled', endedBy: 'service' }), 'inconclusive', ['ended']],
  ['taken back', failed({ outcome: 'cancelled', wasReturned: true }), 'inconclusive', ['not_placed']],
  ['the simulator', without(facts({ simulated: true }), 'media'), 'inconclusive', ['simulated', 'ok']],
  [
    'the simulator, in doubt',
    without(failed({ simulated: true, outcome: 'unknown' }), 'media'),
    'inconclusive',
    ['simulated', 'server_lost'],
  ],
  [
    'the simulator without sound',
    without(facts({ simulated: true, packetsReceived: 0 }), 'media'),
    'fault',
    ['simulated', 'no_sound_received'],
  ],
];

describe('a test call that has ended is explained', () => {
  test.each(told)('%s', (_name, given, verdict, codes) => {
    const { findings, ...rest } = explainTestCall(given);
    expect({ ...rest, codes: findings.map(({ code }) => code) }).toEqual({ verdict, codes });
    for (const { message } of findings) {
      expect(message.length).toBeGreaterThan(40);
      expect(message).not.toContain('undefined');
    }
  });

  test('with what the trunk said', () => {
    const [finding] = explainTestCall(
      failed({ outcome: 'trunk_error', sipStatus: 403, sipReason: 'Geo blocked' }),
    ).findings;
    expect(finding!.message).toContain('403 Geo blocked');
  });

  test('with the address that no sound is sent to', () => {
    const said = (given: TestCallMedia) => {
      const [finding] = explainTestCall(facts({ outcome: 'trunk_error', media: { ...good, ...given } })).findings;
      return finding!.message;
    };
    expect(said({ remoteAddress: '10.0.0.9:4000' })).toMatch(/sent to 10\.0\.0\.9: let SIP_ALLOWED_ADDRESSES/);
    expect(said({ remoteAddress: '10.0.0.9:4000', trunkAddress: '10.0.0.9:5060' })).not.toContain('SIP_ALLOWED');
    expect(said({})).not.toContain('SIP_ALLOWED');
  });

  test('with where else to look, where nothing was sent', () => {
    const [finding] = explainTestCall(failed({ outcome: 'trunk_error' })).findings;
    expect(finding!.message).toMatch(/RTP_PORT_MIN.* log /);
  });
});

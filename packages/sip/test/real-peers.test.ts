import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CallEnd, IncomingCall, InviteOptions, Progress, RegistrationState, UserAgent } from '../src/index.ts';
import { createUserAgent } from '../src/index.ts';
import { sdpAnswer, sdpOffer, until } from './agents.ts';
import { createAuthority } from './certificates.ts';
import { baresip, startBaresip } from './peers/baresip.ts';
import { type Kamailio, kamailio, startKamailio } from './peers/kamailio.ts';
import { type Sipp, sipp, startSipp } from './peers/sipp.ts';

const authority = createAuthority();
const from = '"Ada" <sip:alice@127.0.0.1>';

/** With the timers of RFC 3261, as peers have them. */
async function startAgent(options: Parameters<typeof createUserAgent>[0] = {}): Promise<UserAgent> {
  const agent = await createUserAgent({ host: '127.0.0.1', port: 0, ...options });
  onTestFinished(() => agent.stop(0));
  return agent;
}

/** What sipp has of a call: first lines, one for each message, retransmissions left out. */
function said(peer: Sipp, callId: string): string[] {
  const of = peer.messages().filter((message) => message.callId === callId);
  const lines = of.map(({ direction, start, cseq }) => {
    const what = start.startsWith('SIP/2.0') ? `${start.split(' ')[1]} ${cseq.split(' ')[1]}` : start.split(' ')[0];
    return `${direction === 'received' ? '>' : '<'} ${what}`;
  });
  return lines.filter((line, at) => line !== lines[at - 1]);
}

describe.skipIf(!sipp)('real callees, which need sipp', () => {
  let peer: Sipp;
  beforeAll(async () => {
    peer = await startSipp();
  });
  afterAll(() => peer?.stop());

  async function place(user: string, options: Partial<InviteOptions> = {}) {
    const agent = await startAgent();
    const progress: Progress[] = [];
    const to = `sip:${user}@127.0.0.1:${peer.port}`;
    const call = agent.invite({ to, from, sdp: sdpOffer, onProgress: (each) => progress.push(each), ...options });
    const saidIn = async (...lines: string[]) => {
      await until(() => said(peer, call.callId).length >= lines.length, `sipp has logged ${lines.at(-1)}`);
      expect(said(peer, call.callId)).toEqual(lines);
    };
    return { agent, call, progress, saidIn };
  }

  test('a call rings, is answered, and hung up', async () => {
    const { call, progress, saidIn, agent } = await place('+14155550100');
    expect((await call.answered)?.sdp).toMatch(/m=audio \d+ RTP\/AVP 0/);
    expect(progress.map(({ status }) => status)).toEqual([180]);
    expect(await call.hangUp()).toMatchObject({ kind: 'hung_up', by: 'local' });
    await saidIn('> INVITE', '< 180 INVITE', '< 200 INVITE', '> ACK', '> BYE', '< 200 BYE');
    expect(agent.counts()).toMatchObject({ calls: 0, dialogs: 0 });
  });

  test.each([
    ['86', 486],
    ['03', 603],
    ['04', 404],
    ['51', 503],
  ])('a refusal is final: %s is %i', async (digits, status) => {
    const { call, saidIn } = await place(`+141555501${digits}`);
    expect(await call.ended).toMatchObject({ kind: 'rejected', status });
    await saidIn('> INVITE', `< ${status} INVITE`, '> ACK');
  });

  test('what rings too long is cancelled', async () => {
    const { call, saidIn } = await place('+14155550108', { ringTimeoutMs: 300 });
    expect(await call.ended).toMatchObject({ kind: 'cancelled', by: 'ring_timeout', status: 487 });
    await saidIn('> INVITE', '< 180 INVITE', '> CANCEL', '< 200 CANCEL', '< 487 INVITE', '> ACK');
  });

  test('an answer after the CANCEL is hung up', async () => {
    const { call, saidIn } = await place('+14155550109', { ringTimeoutMs: 300 });
    expect(await call.ended).toMatchObject({ kind: 'cancelled', by: 'ring_timeout', status: 200 });
    const cancelled = ['> INVITE', '< 180 INVITE', '> CANCEL', '< 200 CANCEL'];
    await saidIn(...cancelled, '< 200 INVITE', '> ACK', '> BYE', '< 200 BYE');
  });

  test('silence is told as silence', async () => {
    const agent = await startAgent({ timers: { t1: 20 } });
    const to = `sip:+14155550110@127.0.0.1:${peer.port}`;
    const call = agent.invite({ to, from, sdp: sdpOffer });
    expect(await call.ended).toMatchObject({ kind: 'silence', wasRinging: false });
    expect(said(peer, call.callId)).toEqual(['> INVITE']);
  });

  test('the callee hangs up', async () => {
    const { call, saidIn } = await place('+14155550102');
    expect(await call.ended).toMatchObject({ kind: 'hung_up', by: 'remote', q850: 16 });
    await saidIn('> INVITE', '< 180 INVITE', '< 200 INVITE', '> ACK', '< BYE', '> 200 BYE');
  });

  test.each([
    ['secret', 'hung_up'],
    ['wrong', 'rejected'],
  ] as const)('the password %s is verified: %s', async (password, kind) => {
    const { call, saidIn } = await place('+14155550107', { credentials: { username: 'alice', password } });
    if (await call.answered) void call.hangUp();
    expect(await call.ended).toMatchObject(kind === 'rejected' ? { kind, status: 403 } : { kind, by: 'local' });
    const challenged = ['> INVITE', '< 401 INVITE', '> ACK', '> INVITE'];
    if (kind === 'rejected') await saidIn(...challenged, '< 403 INVITE', '> ACK');
    else await saidIn(...challenged, '< 180 INVITE', '< 200 INVITE', '> ACK', '> BYE', '< 200 BYE');
  });
});

describe.skipIf(!kamailio || !sipp || !authority)(
  'a real carrier, which needs kamailio with TLS, sipp and openssl',
  () => {
    let callees: Sipp;
    let carrier: Kamailio;
    beforeAll(async () => {
      callees = await startSipp();
      carrier = await startKamailio(authority!.issue('IP:127.0.0.1'), callees.port);
    });
    afterAll(() => Promise.all([carrier?.stop(), callees?.stop()]));

    const credentials = { username: 'alice', password: 'secret' };
    const trunk = (user: string): InviteOptions => ({
      ...{ to: `sip:${user}@127.0.0.1:${carrier.tlsPort}`, from, transport: 'tls', credentials, sdp: sdpOffer },
    });
    const trusting = () => startAgent({ tls: { ca: authority!.ca } });

    test('over TLS, with a SHA-256 digest, through a proxy that stays in the dialog', async () => {
      const agent = await trusting();
      const asked: string[] = [];
      const call = agent.invite({
        ...trunk('+14155550100'),
        onProgress: ({ response }) => asked.push(...response.headers.all('record-route')),
      });
      expect((await call.answered)?.sdp).toContain('m=audio');
      expect(asked.join()).toContain('transport=tls');
      expect(await call.hangUp()).toMatchObject({ kind: 'hung_up', by: 'local' });
      await until(() => said(callees, call.callId).includes('< 200 BYE'), 'sipp has answered the BYE');
      expect(said(callees, call.callId).filter((line) => line.startsWith('>'))).toEqual(['> INVITE', '> ACK', '> BYE']);
    });

    test('the callee hangs up through the proxy, over the connection that the call came by', async () => {
      const call = (await trusting()).invite(trunk('+14155550102'));
      expect(await call.ended).toMatchObject({ kind: 'hung_up', by: 'remote', q850: 16 });
    });

    test.each([
      ['08', { kind: 'cancelled', status: 487 }],
      ['09', { kind: 'cancelled', status: 200 }],
      ['86', { kind: 'rejected', status: 486 }],
    ])('%s through the proxy', async (digits, end) => {
      const call = (await trusting()).invite({ ...trunk(`+141555501${digits}`), ringTimeoutMs: 1500 });
      expect(await call.ended).toMatchObject(end);
      if (digits === '09') await until(() => said(callees, call.callId).includes('< 200 BYE'), 'it is hung up');
    });

    test('a wrong password is not tried twice', async () => {
      const call = (await trusting()).invite({
        ...trunk('+14155550100'),
        credentials: { ...credentials, password: 'x' },
      });
      expect(await call.ended).toMatchObject({ kind: 'rejected', status: 407 });
      expect(said(callees, call.callId)).toEqual([]);
    });

    test('a certificate of nobody that we trust is refused', async () => {
      const call = (await startAgent()).invite(trunk('+14155550100'));
      expect(await call.ended).toMatchObject({ kind: 'not_sent', code: 'tls' });
    });

    test('a certificate that does not bear the name is refused', async () => {
      const to = `sip:+14155550100@localhost:${carrier.tlsPort}`;
      const call = (await trusting()).invite({ ...trunk('+14155550100'), to });
      expect(await call.ended).toMatchObject({ kind: 'not_sent', code: 'tls' });
    });

    test('a probe tells right credentials from wrong ones', async () => {
      const agent = await trusting();
      const uri = `sip:127.0.0.1:${carrier.tlsPort}`;
      const probe = (password: string) =>
        agent.probe({
          uri,
          transport: 'tls',
          verifiesCredentials: true,
          credentials: { ...credentials, password },
        });
      expect(await probe('secret')).toMatchObject({ reachability: 'reachable', credentials: 'verified' });
      expect(await probe('wrong')).toMatchObject({ credentials: 'rejected' });
    });

    test('a registration is refreshed when its nonce is stale, and calls come over its connection', async () => {
      const arrived: IncomingCall[] = [];
      const agent = await startAgent({ tls: { ca: authority!.ca }, onInvite: (call) => arrived.push(call) });
      const states: RegistrationState[] = [];
      const registration = agent.register({
        ...{ registrar: `sip:127.0.0.1:${carrier.tlsPort}`, address: 'sip:bob@127.0.0.1', transport: 'tls' },
        ...{ credentials: { username: 'bob', password: 'secret' }, onState: (state) => states.push(state) },
      });
      const registered = () => states.filter(({ status }) => status === 'registered').length;
      await until(() => registered() === 2, 'it is refreshed');
      expect(states.map(({ status }) => status)).toEqual(['registered', 'registered']);
      const caller = await trusting();
      const call = caller.invite(trunk('bob'));
      await until(() => arrived.length > 0, 'the call arrives');
      const ended: CallEnd[] = [];
      arrived[0]!.listen({ onEnded: (end) => ended.push(end) });
      arrived[0]!.ring();
      arrived[0]!.answer(sdpAnswer);
      expect((await call.answered)?.sdp).toBe(sdpAnswer);
      await call.hangUp();
      await until(() => ended.length > 0, 'the callee hears of the end');
      expect(ended).toMatchObject([{ kind: 'hung_up', by: 'remote' }]);
      await registration.stop();
      const late = caller.invite(trunk('bob04'));
      expect(await late.ended).toMatchObject({ kind: 'rejected', status: 404 });
    });

    test.each(['tls', 'udp'] as const)(
      'a registrar that was restarted is registered with again: %s',
      async (transport) => {
        const certificate = authority!.issue('IP:127.0.0.1');
        const first = await startKamailio(certificate, callees.port);
        const arrived: IncomingCall[] = [];
        const agent = await startAgent({ tls: { ca: authority!.ca }, onInvite: (call) => arrived.push(call) });
        const states: RegistrationState[] = [];
        const port = transport === 'tls' ? first.tlsPort : first.udpPort;
        agent.register({
          ...{ registrar: `sip:127.0.0.1:${port}`, address: 'sip:bob@127.0.0.1', transport },
          ...{ credentials: { username: 'bob', password: 'secret' }, onState: (state) => states.push(state) },
        });
        await until(() => states.at(-1)?.status === 'registered', 'it is registered');
        await first.stop();
        // It knows nobody any more.
        const again = await startKamailio(certificate, callees.port, callees.port, first);
        onTestFinished(() => again.stop());
        const before = states.length;
        await until(
          () => states.length > before && states.at(-1)?.status === 'registered',
          'it is registered again',
          50,
        );
        const caller = await trusting();
        const call = caller.invite({ ...trunk('bob'), to: `sip:bob@127.0.0.1:${again.tlsPort}` });
        await until(() => arrived.length > 0, 'the call arrives');
        arrived[0]!.answer(sdpAnswer);
        expect((await call.answered)?.sdp).toBe(sdpAnswer);
        await call.hangUp();
      },
    );
  },
);

describe.skipIf(!baresip)('a real telephone, which needs baresip', () => {
  test('answers, hears, speaks, and hangs up', async () => {
    const phone = await startBaresip();
    onTestFinished(() => phone.stop());
    const rtp = createSocket('udp4').bind(0, '127.0.0.1');
    onTestFinished(() => void rtp.close());
    await once(rtp, 'listening');
    const heard: Buffer[] = [];
    rtp.on('message', (packet) => heard.push(packet));
    const agent = await startAgent();
    const sdp = sdpOffer.replace('40000', String(rtp.address().port));
    const call = agent.invite({ to: `sip:phone@127.0.0.1:${phone.port}`, from, sdp });
    const answered = await call.answered;
    const port = Number(/m=audio (\d+)/.exec(answered!.sdp!)![1]);
    let sequence = 0;
    const speaking = setInterval(() => rtp.send(rtpPacket(sequence++), port, '127.0.0.1'), 20);
    onTestFinished(() => clearInterval(speaking));
    const isTone = (packet: Buffer) => packet[1]! % 128 === 0 && packet.includes(0x10, 12) && packet.includes(0x90, 12);
    await until(() => heard.some(isTone), 'it says what it has heard');
    phone.hangUp();
    expect(await call.ended).toMatchObject({ kind: 'hung_up', by: 'remote' });
  });
});

/** 20 ms of a square wave in PCMU. */
function rtpPacket(sequence: number): Buffer {
  const packet = Buffer.alloc(172, 0x10);
  for (let at = 12; at < 172; at += 1) if (at % 8 < 4) packet[at] = 0x90;
  packet.writeUInt16BE(0x80_00, 0);
  packet.writeUInt16BE(sequence, 2);
  packet.writeUInt32BE(sequence * 160, 4);
  packet.writeUInt32BE(4711, 8);
  return packet;
}

import { expect, test } from 'vitest';
import type { IncomingCall, UserAgentOptions } from '../src/index.ts';
import { createRequest, cseqOf, type SipRequest, type SipResponse } from '../src/message.ts';
import { sdpAnswer, sdpOffer, startAgent, until } from './agents.ts';
import { startRawPeer } from './raw-peer.ts';
import { TestClock } from './test-clock.ts';

/** A call of ours that the peer answers with these headers, on a clock that stands still. */
async function placed(headers: [string, string][], sessionSeconds = 90) {
  const answers: string[] = [];
  const clock = new TestClock();
  const peer = await startRawPeer();
  const agent = await startAgent({ clock, keepaliveSeconds: 0, timers: { t1: 500, t2: 4000, t4: 5000 } });
  const call = agent.invite({
    to: `sip:bob@127.0.0.1:${peer.port}`,
    from: 'sip:ada@example.com',
    sdp: sdpOffer,
    sessionSeconds,
    onAnswer: (sdp) => void answers.push(sdp),
  });
  const invite = await peer.request('INVITE');
  const response = peer.respond(invite, 200, { sdp: sdpAnswer, headers });
  await peer.request('ACK');
  // Past timer M, so that only the session's timers are left.
  await clock.advance(33_000);
  return { clock, peer, agent, call, invite, response, answers };
}

test('we refresh by UPDATE at half of the interval where the peer takes it, again and again', async () => {
  const { clock, peer, call } = await placed([
    ['session-expires', '90;refresher=uac'],
    ['allow', 'INVITE, ACK, BYE, UPDATE'],
  ]);
  await clock.advance(11_000);
  expect(peer.has('UPDATE')).toBe(false);
  for (let n = 0; n < 3; n += 1) {
    await clock.advance(n === 0 ? 2000 : 46_000);
    const update = await peer.request('UPDATE');
    expect(update.headers.get('session-expires')).toBe('90;refresher=uac');
    expect(update.body).toBe('');
    peer.respond(update, 200, { headers: [['session-expires', '90;refresher=uac']] });
    await until(() => call.stored?.phase === 'answered' && call.stored.dialog.localCseq === cseqOf(update).number);
    await clock.advance(0);
  }
  expect(peer.has('BYE')).toBe(false);
});

test('we refresh by re-INVITE where it does not, with the offer that was', async () => {
  const { clock, peer, answers } = await placed([
    ['session-expires', '90;refresher=uac'],
    ['allow', 'INVITE, ACK, BYE'],
  ]);
  await clock.advance(13_000);
  const again = await peer.request('INVITE');
  expect(again.body).toBe(sdpOffer);
  peer.respond(again, 422, { headers: [['min-se', '240']] });
  const longer = await peer.request('INVITE');
  expect(longer.headers.get('session-expires')).toBe('240;refresher=uac');
  expect(longer.headers.get('min-se')).toBe('240');
  peer.respond(longer, 200, { sdp: sdpAnswer, headers: [['session-expires', '240;refresher=uac']] });
  await peer.request('ACK');
  await clock.advance(90_000);
  expect(peer.has('BYE')).toBe(false);
  expect(answers).toEqual([]);
});

test('what a peer says anew as it answers a refresh is told: its address or its key may be another one', async () => {
  const headers: [string, string][] = [['session-expires', '90;refresher=uac']];
  const { clock, peer, answers } = await placed(headers);
  await clock.advance(13_000);
  const anew = sdpAnswer.replace('40002', '40004');
  peer.respond(await peer.request('INVITE'), 200, { sdp: anew, headers });
  await until(() => answers.length > 0);
  expect(answers).toEqual([anew]);
});

test('a refresh that is not answered is tried again, and the call is hung up before the session ends', async () => {
  const { clock, peer, call } = await placed([
    ['session-expires', '90;refresher=uac'],
    ['allow', 'UPDATE'],
  ]);
  await clock.advance(13_000);
  peer.respond(await peer.request('UPDATE'), 500);
  await until(() => peer.received.length > 0);
  for (let n = 0; n < 4; n += 1) await clock.advance(5000);
  void call.ended;
  await clock.advance(5000);
  const bye = await peer.request('BYE');
  expect(bye.headers.get('reason')).toContain('Session expired');
  peer.respond(bye, 200);
  expect(await call.ended).toMatchObject({ kind: 'lost', why: 'session_expired' });
});

test('a peer that should refresh and does not is hung up on; without Session-Expires nobody is', async () => {
  const { clock, peer, call } = await placed([['session-expires', '90;refresher=uas']]);
  await clock.advance(28_000);
  peer.respond(await peer.request('BYE'), 200);
  expect(await call.ended).toMatchObject({ kind: 'lost', why: 'session_expired' });
  const endless = await placed([]);
  await endless.clock.advance(10_000_000);
  expect(endless.peer.has('BYE')).toBe(false);
});

test('a peer whose answer asks for a refresh each second is refreshed no more often than the least allows', async () => {
  const { clock, peer } = await placed([
    ['session-expires', '1;refresher=uac'],
    ['allow', 'INVITE, ACK, BYE'],
  ]);
  await clock.advance(11_000);
  expect(peer.has('INVITE')).toBe(false);
  await clock.advance(2000);
  const again = await peer.request('INVITE');
  peer.respond(again, 200, { sdp: sdpAnswer, headers: [['session-expires', '1;refresher=uac']] });
  await peer.request('ACK');
  await clock.advance(43_000);
  expect(peer.has('INVITE')).toBe(false);
});

test('an interval of years is a day', async () => {
  const { clock, peer } = await placed([['session-expires', '999999999;refresher=uas']]);
  await clock.advance(86_000_000);
  expect(peer.has('BYE')).toBe(false);
  await clock.advance(400_000);
  await peer.request('BYE');
});

test('a peer that answers without a tag is not refreshed: it would take that for another call', async () => {
  const { clock, peer, call } = await placed([
    ['to', '<sip:bob@127.0.0.1>'],
    ['session-expires', '90;refresher=uac'],
    ['allow', 'INVITE, ACK, BYE, UPDATE'],
  ]);
  await clock.advance(10_000_000);
  for (const method of ['INVITE', 'UPDATE', 'BYE']) expect(peer.has(method)).toBe(false);
  const ended = call.hangUp();
  const bye = await peer.request('BYE');
  expect(bye.headers.get('to')).toBe('<sip:bob@127.0.0.1>');
  peer.respond(bye, 200);
  expect(await ended).toMatchObject({ kind: 'hung_up' });
});

/** A call that comes in with these headers, and is answered. */
async function taken(headers: [string, string][], options: UserAgentOptions = {}) {
  const clock = new TestClock();
  const peer = await startRawPeer();
  const calls: IncomingCall[] = [];
  const agent = await startAgent({
    clock,
    keepaliveSeconds: 0,
    timers: { t1: 500, t2: 4000, t4: 5000 },
    onInvite: (call) => calls.push(call),
    ...options,
  });
  const send = (method: string, cseq: number, to: string, more: [string, string][], body = ''): SipRequest => {
    const request = createRequest(method, `sip:a@127.0.0.1:${agent.port}`);
    request.headers.add('via', `SIP/2.0/UDP 127.0.0.1:${peer.port};branch=z9hG4bK${method}${cseq};rport`);
    request.headers
      .add('from', '<sip:raw@127.0.0.1>;tag=raw')
      .add('to', to)
      .add('call-id', 'one')
      .add('cseq', `${cseq} ${method}`);
    request.headers.add('contact', peer.contact);
    for (const [name, value] of more) request.headers.add(name, value);
    if (body) request.headers.add('content-type', 'application/sdp');
    request.body = body;
    peer.send(request, agent.port);
    return request;
  };
  send('INVITE', 1, '<sip:a@127.0.0.1>', headers, sdpOffer);
  await until(() => calls.length === 1);
  calls[0]!.answer(sdpAnswer);
  const ok: SipResponse = await peer.response(200);
  const to = ok.headers.get('to')!;
  send('ACK', 1, to, []);
  await until(() => agent.counts().timers <= 3);
  return { clock, peer, call: calls[0]!, ok, to, send };
}

test('a caller that knows timers refreshes itself, by UPDATE and by re-INVITE; when it stops it is hung up on', async () => {
  const { clock, peer, ok, to, send, call } = await taken([
    ['supported', 'timer'],
    ['session-expires', '120'],
  ]);
  expect(ok.headers.get('session-expires')).toBe('120;refresher=uac');
  expect(ok.headers.get('require')).toBe('timer');
  await clock.advance(70_000);
  send('UPDATE', 2, to, [
    ['supported', 'timer'],
    ['session-expires', '120;refresher=uac'],
  ]);
  expect((await peer.response(200)).headers.get('session-expires')).toBe('120;refresher=uac');
  await clock.advance(70_000);
  send(
    'INVITE',
    3,
    to,
    [
      ['supported', 'timer'],
      ['session-expires', '120;refresher=uac'],
    ],
    sdpOffer,
  );
  expect((await peer.response(200)).body).toBe(sdpAnswer);
  send('ACK', 3, to, []);
  await clock.advance(70_000);
  expect(peer.has('BYE')).toBe(false);
  await clock.advance(20_000);
  peer.respond(await peer.request('BYE'), 200);
  expect(await call.ended).toMatchObject({ kind: 'lost', why: 'session_expired' });
});

test('for a caller that does not know timers, or asks us to, we refresh', async () => {
  for (const headers of [
    [],
    [
      ['supported', 'timer'],
      ['session-expires', '120;refresher=uas'],
    ],
  ] as [string, string][][]) {
    const { clock, peer, ok } = await taken(headers, { sessionSeconds: 120 });
    expect(ok.headers.get('session-expires')).toBe('120;refresher=uas');
    expect(ok.headers.has('require')).toBe(false);
    await clock.advance(61_000);
    const again = await peer.request('INVITE');
    expect(again.body).toBe(sdpAnswer);
    peer.respond(again, 200, { sdp: sdpOffer, headers: [['session-expires', '120;refresher=uac']] });
    await peer.request('ACK');
    await clock.advance(70_000);
    await peer.request('INVITE');
  }
});

test('the shortest session is 90 s, also where the caller asks for less without knowing timers', async () => {
  const { ok } = await taken([
    ['session-expires', '30'],
    ['min-se', '100'],
  ]);
  expect(ok.headers.get('session-expires')).toBe('100;refresher=uas');
});

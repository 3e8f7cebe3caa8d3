import { expect, test } from 'vitest';
import {
  deriveIdentifiers,
  type InviteOptions,
  type SipRequest,
  type StoredDialog,
  systemRandom,
  toTagOf,
  type UserAgentOptions,
} from '../src/index.ts';
import { createRequest, cseqOf, topViaOf } from '../src/message.ts';
import { sdpAnswer, sdpOffer, startAgent, until } from './agents.ts';
import { createAuthority } from './certificates.ts';
import { startRawPeer } from './raw-peer.ts';

const authority = createAuthority();
const certificate = authority?.issue('IP:127.0.0.1');

async function stand(options: UserAgentOptions = {}, transport: 'udp' | 'tcp' | 'tls' = 'udp') {
  const peer = await startRawPeer(transport, '127.0.0.1', certificate);
  const agent = await startAgent(options);
  const call = { to: `sip:bob@127.0.0.1:${peer.port}`, from: 'sip:ada@example.com', sdp: sdpOffer, transport };
  const place = (more: Partial<InviteOptions> = {}) => agent.invite({ ...call, ...more });
  return { peer, agent, place };
}

/** A call that the peer has answered. */
async function answered(
  options: UserAgentOptions = {},
  more: Partial<InviteOptions> = {},
  headers: [string, string][] = [],
) {
  const it = await stand(options);
  const call = it.place(more);
  const invite = await it.peer.request('INVITE');
  const response = it.peer.respond(invite, 200, { sdp: sdpAnswer, headers });
  const ack = await it.peer.request('ACK');
  let cseq = 100;
  /** A request of the peer's within the dialog. */
  const within = (method: string, headers: [string, string][] = [], body = '', at?: number): SipRequest => {
    cseq += 1;
    const request = createRequest(method, 'sip:ada@127.0.0.1');
    request.headers.add('via', `SIP/2.0/UDP 127.0.0.1:${it.peer.port};branch=z9hG4bKpeer${method}${cseq};rport`);
    request.headers.add('from', response.headers.get('to')!).add('to', invite.headers.get('from')!);
    request.headers
      .add('call-id', call.callId)
      .add('cseq', `${at ?? cseq} ${method}`)
      .add('contact', it.peer.contact);
    for (const [name, value] of headers) request.headers.set(name, value);
    if (body !== '') request.headers.set('content-type', 'application/sdp');
    request.body = body;
    it.peer.send(request);
    return request;
  };
  return { ...it, call, invite, response, ack, within };
}

test('an INVITE says who we are, what we take, and where to answer', async () => {
  const { peer, agent, place } = await stand({ userAgent: 'Trunkline/1' });
  const identifiers = deriveIdentifiers('secret', 'attempt 1');
  const call = place({ identifiers, headers: [['P-Asserted-Identity', '<sip:+14155550199@example.com>']] });
  const invite = await peer.request('INVITE');
  const via = topViaOf(invite);
  expect(via).toMatchObject({ transport: 'UDP', host: '127.0.0.1', port: agent.port });
  expect(via.parameters.get('branch')).toBe(identifiers.branch);
  expect(via.parameters.has('rport')).toBe(true);
  const values = Object.fromEntries(invite.headers);
  expect(values).toMatchObject({
    'call-id': identifiers.callId,
    cseq: '1 INVITE',
    contact: `<sip:ada@127.0.0.1:${agent.port}>`,
    'max-forwards': '70',
    'user-agent': 'Trunkline/1',
    supported: '100rel, timer',
    'session-expires': '1800',
    'p-asserted-identity': '<sip:+14155550199@example.com>',
  });
  expect(values['from']).toBe(`<sip:ada@example.com>;tag=${identifiers.fromTag}`);
  expect(values['to']).toBe(`<sip:bob@127.0.0.1:${peer.port}>`);
  expect(values['allow']).toBe('INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, INFO, PRACK');
  expect(call.target).toMatchObject({ transport: 'udp', address: '127.0.0.1', port: peer.port });
  peer.respond(invite, 404);
  await call.ended;
});

test('silence after an INVITE is silence; what rings or answers after that is cancelled or hung up', async () => {
  const { peer, place } = await stand();
  const call = place();
  expect(await call.ended).toEqual({ kind: 'silence', message: 'No answer came to the INVITE.', wasRinging: false });
  const [first, second] = peer.received as SipRequest[];
  expect(second!.headers.get('via')).toBe(first!.headers.get('via'));
  peer.respond(first!, 180);
  const cancel = await peer.request('CANCEL');
  expect(cancel.headers.get('via')).toBe(first!.headers.get('via'));
  peer.respond(cancel, 200);
  peer.respond(first!, 200, { sdp: sdpAnswer });
  await peer.request('ACK');
  const bye = await peer.request('BYE');
  peer.respond(bye, 200);
});

test('a connection that closes after the INVITE leaves silence, not a failure', async () => {
  const { peer, place } = await stand({}, 'tcp');
  const call = place();
  await peer.request('INVITE');
  peer.sockets[0]!.destroy();
  expect(await call.ended).toMatchObject({ kind: 'silence', wasRinging: false });
});

test('a call given up before anything was heard is cancelled as soon as something is', async () => {
  const { peer, place } = await stand();
  const call = place();
  const invite = await peer.request('INVITE');
  void call.hangUp({ protocol: 'Q.850', cause: 16 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(peer.has('CANCEL')).toBe(false);
  peer.respond(invite, 100);
  const cancel = await peer.request('CANCEL');
  expect(cancel.uri).toBe(invite.uri);
  expect(cancel.headers.get('cseq')).toBe('1 CANCEL');
  expect(cancel.headers.get('to')).toBe(invite.headers.get('to'));
  expect(cancel.headers.get('reason')).toBe('Q.850;cause=16');
  peer.respond(cancel, 200);
  peer.respond(invite, 487);
  expect(await call.ended).toMatchObject({ kind: 'cancelled', by: 'local', status: 487 });
});

test('a peer that takes the CANCEL and says nothing more has cancelled; one that says nothing at all is silent', async () => {
  const { peer, place } = await stand();
  const taken = place();
  peer.respond(await peer.request('INVITE'), 180);
  await until(() => taken.stored !== undefined);
  const ended = taken.hangUp();
  peer.respond(await peer.request('CANCEL'), 200);
  expect(await ended).toEqual({ kind: 'cancelled', by: 'local', reasons: [] });
  let rings = false;
  const silent = place({ onProgress: () => (rings = true) });
  peer.respond(await peer.request('INVITE'), 180);
  await until(() => rings);
  expect(await silent.hangUp()).toMatchObject({ kind: 'silence', wasRinging: true });
});

test('an answer that crosses the CANCEL is acknowledged and hung up, and acknowledged again when it comes again', async () => {
  const { peer, agent, place } = await stand();
  const call = place();
  const invite = await peer.request('INVITE');
  peer.respond(invite, 180);
  await until(() => agent.counts().dialogs === 1);
  const ended = call.hangUp();
  const cancel = await peer.request('CANCEL');
  peer.respond(invite, 200, { sdp: sdpAnswer });
  peer.respond(cancel, 481);
  await peer.request('ACK');
  const bye = await peer.request('BYE');
  peer.respond(invite, 200, { sdp: sdpAnswer });
  await peer.request('ACK');
  peer.respond(bye, 200);
  expect(await ended).toEqual({ kind: 'cancelled', by: 'local', status: 200, reasons: [] });
  expect(peer.has('BYE')).toBe(false);
});

test('of several phones the first that answers is the call; the others are acknowledged and hung up', async () => {
  const { peer, place, agent } = await stand();
  const forks = new Set<string | undefined>();
  const call = place({ onProgress: ({ fork }) => forks.add(fork) });
  const invite = await peer.request('INVITE');
  for (const tag of ['one', 'two', 'three']) peer.respond(invite, 180, { tag });
  await until(() => forks.size === 3);
  expect(agent.counts().dialogs).toBe(3);
  peer.respond(invite, 200, { tag: 'two', sdp: sdpAnswer });
  expect(toTagOf(await peer.request('ACK'))).toBe('two');
  peer.respond(invite, 200, { tag: 'four', sdp: sdpAnswer });
  expect(toTagOf(await peer.request('ACK'))).toBe('four');
  const refused = await peer.request('BYE');
  expect(toTagOf(refused)).toBe('four');
  peer.respond(refused, 200);
  // The 200 of the call comes again: it is no other fork.
  peer.respond(invite, 200, { tag: 'two', sdp: sdpAnswer });
  expect(toTagOf(await peer.request('ACK'))).toBe('two');
  const ended = call.hangUp();
  const bye = await peer.request('BYE');
  expect(toTagOf(bye)).toBe('two');
  peer.respond(bye, 200);
  await ended;
  await until(() => agent.counts().dialogs === 0);
});

test('after the call its 200 that comes again is acknowledged, and a phone that answers only then is hung up', async () => {
  const seen: string[] = [];
  // On a slow machine INVITE and BYE are sent again; each ACK is one.
  const onMessage: UserAgentOptions['onMessage'] = (direction, message) => {
    if (direction !== 'sent' || message.kind !== 'request') return;
    if (message.method === 'ACK' || message.method !== seen.at(-1)) seen.push(message.method);
  };
  const { peer, agent, call, invite } = await answered({ onMessage });
  const ended = call.hangUp();
  const bye = await peer.request('BYE');
  peer.respond(bye, 200);
  await ended;
  await until(() => agent.counts().dialogs === 0);
  peer.respond(invite, 200, { sdp: sdpAnswer });
  expect(toTagOf(await peer.request('ACK'))).toBe(toTagOf(bye));
  peer.respond(invite, 200, { tag: 'late', sdp: sdpAnswer });
  expect(toTagOf(await peer.request('ACK'))).toBe('late');
  const refused = await peer.request('BYE');
  expect(toTagOf(refused)).toBe('late');
  peer.respond(refused, 200);
  await until(() => agent.counts().dialogs === 0);
  expect(seen).toEqual(['INVITE', 'ACK', 'BYE', 'ACK', 'ACK', 'BYE']);
});

test('twenty forks are kept, and no more', async () => {
  const { peer, place, agent } = await stand();
  let rang = 0;
  place({ onProgress: () => (rang += 1) });
  const invite = await peer.request('INVITE');
  for (let n = 0; n < 40; n += 1) peer.respond(invite, 180, { tag: `fork${n}` });
  await until(() => rang === 40);
  expect(agent.counts().dialogs).toBe(20);
});

test('of twenty phones that all answer one is the call, and each other one is hung up', async () => {
  const { peer, place, agent } = await stand();
  const call = place();
  const invite = await peer.request('INVITE');
  for (let n = 0; n < 20; n += 1) peer.respond(invite, 200, { tag: `fork${n}`, sdp: sdpAnswer });
  const hungUp = new Set<string | undefined>();
  while (hungUp.size < 19) {
    const bye = await peer.request('BYE');
    hungUp.add(toTagOf(bye));
    peer.respond(bye, 200);
  }
  expect(hungUp.has('fork0')).toBe(false);
  expect(call.stored?.phase).toBe('answered');
  await until(() => agent.counts().dialogs === 1);
});

test('a 200 that comes again while the ACK is owed is no other fork', async () => {
  const { peer, agent } = await stand();
  let give = (_sdp: string) => {};
  const answer = new Promise<string>((resolve) => {
    give = resolve;
  });
  const call = agent.invite({
    to: `sip:bob@127.0.0.1:${peer.port}`,
    from: 'sip:ada@example.com',
    onOffer: () => answer,
  });
  const invite = await peer.request('INVITE');
  expect(invite.body).toBe('');
  for (let n = 0; n < 3; n += 1) peer.respond(invite, 200, { sdp: sdpOffer });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(peer.has('ACK') || peer.has('BYE')).toBe(false);
  give(sdpAnswer);
  expect((await peer.request('ACK')).body).toBe(sdpAnswer);
  peer.respond(invite, 200, { sdp: sdpOffer });
  expect((await peer.request('ACK')).body).toBe(sdpAnswer);
  expect(peer.has('BYE')).toBe(false);
  void call.hangUp();
  peer.respond(await peer.request('BYE'), 200);
});

test('a 200 without SDP uses that of the 183', async () => {
  const { peer, place } = await stand();
  let heard: string | undefined;
  place({ onAnswered: ({ sdp }) => (heard = sdp) });
  const invite = await peer.request('INVITE');
  peer.respond(invite, 183, { sdp: sdpAnswer });
  peer.respond(invite, 200);
  await until(() => heard !== undefined);
  expect(heard).toBe(sdpAnswer);
});

test('a challenge is answered on a new branch with the next CSeq; the BYE too where it is challenged', async () => {
  const credentials = { username: 'ada', password: 'secret' };
  const { peer, place } = await stand();
  const branch = 'z9hG4bKmine';
  const call = place({ credentials, identifiers: { branch } });
  const first = await peer.request('INVITE');
  const challenge = (n: number): [string, string][] => [
    ['proxy-authenticate', `Digest realm="r", nonce="n${n}", qop="auth"`],
  ];
  peer.respond(first, 407, { headers: challenge(1) });
  expect((await peer.request('ACK')).headers.get('cseq')).toBe('1 ACK');
  const second = await peer.request('INVITE');
  expect(second.headers.get('cseq')).toBe('2 INVITE');
  expect(topViaOf(second).parameters.get('branch')).toBe(`${branch}.1`);
  expect(second.headers.get('proxy-authorization')).toContain('nonce="n1"');
  peer.respond(second, 200, { sdp: sdpAnswer });
  const ack = await peer.request('ACK');
  expect(ack.headers.get('cseq')).toBe('2 ACK');
  expect(ack.headers.get('proxy-authorization')).toBe(second.headers.get('proxy-authorization'));
  const ended = call.hangUp();
  const bye = await peer.request('BYE');
  expect(bye.headers.get('proxy-authorization')).toContain('nc=00000002');
  peer.respond(bye, 407, { headers: challenge(2) });
  const again = await peer.request('BYE');
  expect(again.headers.get('proxy-authorization')).toContain('nonce="n2"');
  expect(cseqOf(again).number).toBe(cseqOf(bye).number + 1);
  peer.respond(again, 200);
  await ended;
});

test('a password that is refused is the end', async () => {
  const { peer, place } = await stand();
  const call = place({ credentials: { username: 'ada', password: 'wrong' } });
  for (let n = 0; n < 2; n += 1)
    peer.respond(await peer.request('INVITE'), 401, {
      headers: [['www-authenticate', `Digest realm="r", nonce="${n}", qop="auth"`]],
    });
  expect(await call.ended).toMatchObject({ kind: 'rejected', status: 401 });
  expect(peer.has('INVITE')).toBe(false);
});

test('422 is answered with a longer session', async () => {
  const { peer, place } = await stand();
  const call = place({ sessionSeconds: 90 });
  const first = await peer.request('INVITE');
  expect(first.headers.get('session-expires')).toBe('90');
  peer.respond(first, 422, { headers: [['min-se', '3600']] });
  const second = await peer.request('INVITE');
  expect(second.headers.get('session-expires')).toBe('3600');
  expect(second.headers.get('min-se')).toBe('3600');
  peer.respond(second, 422, { headers: [['min-se', '3600']] });
  expect(await call.ended).toMatchObject({ kind: 'rejected', status: 422 });
});

test('a reliable 183 is acknowledged by PRACK, once and in order', async () => {
  const { peer, place } = await stand();
  const progress: number[] = [];
  const call = place({ onProgress: ({ status }) => progress.push(status) });
  const invite = await peer.request('INVITE');
  const reliable = (rseq: number): [string, string][] => [
    ['require', '100rel'],
    ['rseq', String(rseq)],
  ];
  peer.respond(invite, 183, { sdp: sdpAnswer, headers: reliable(7) });
  const prack = await peer.request('PRACK');
  expect(prack.headers.get('rack')).toBe('7 1 INVITE');
  expect(prack.uri).toBe(peer.contact.slice(1, -1));
  peer.respond(prack, 200);
  peer.respond(invite, 183, { sdp: sdpAnswer, headers: reliable(7) });
  peer.respond(invite, 180, { headers: reliable(9) });
  peer.respond(invite, 180, { headers: reliable(8) });
  const second = await peer.request('PRACK');
  expect(second.headers.get('rack')).toBe('8 1 INVITE');
  peer.respond(second, 200);
  expect(progress).toEqual([183, 180]);
  peer.respond(invite, 486);
  await call.ended;
});

test('the route set of the 200 is followed, loose and strict, and a Contact that moves', async () => {
  const { peer: strict, place } = await stand();
  const call = place();
  const invite = await strict.request('INVITE');
  const routes = `<sip:127.0.0.1:${strict.port};x=last;lr>, <sip:127.0.0.1:${strict.port};x=first>`;
  strict.respond(invite, 200, { sdp: sdpAnswer, headers: [['record-route', routes]] });
  const ack = await strict.request('ACK');
  expect(ack.uri).toBe(`sip:127.0.0.1:${strict.port};x=first`);
  expect(ack.headers.all('route')).toEqual([`<sip:127.0.0.1:${strict.port};x=last;lr>`, strict.contact]);
  const ended = call.hangUp();
  const bye = await strict.request('BYE');
  expect([bye.uri, ...bye.headers.all('route')]).toEqual([ack.uri, ...ack.headers.all('route')]);
  strict.respond(bye, 200);
  await ended;
  const loose = await stand();
  const looseCall = loose.place();
  const route = `<sip:127.0.0.1:${loose.peer.port};lr>`;
  const headers: [string, string][] = [
    ['record-route', route],
    ['contact', '<sip:far@192.0.2.77>'],
  ];
  loose.peer.respond(await loose.peer.request('INVITE'), 200, { sdp: sdpAnswer, headers });
  const looseAck = await loose.peer.request('ACK');
  expect([looseAck.uri, looseAck.headers.get('route')]).toEqual(['sip:far@192.0.2.77', route]);
  const updated = looseCall.update(sdpOffer);
  const again = await loose.peer.request('INVITE');
  expect([again.uri, again.headers.get('route')]).toEqual(['sip:far@192.0.2.77', route]);
  loose.peer.respond(again, 200, { sdp: sdpAnswer, headers: [['contact', '<sip:moved@192.0.2.78>']] });
  expect((await loose.peer.request('ACK')).uri).toBe('sip:moved@192.0.2.78');
  await updated;
});

test('requests within the call are answered as RFC 3261 asks', async () => {
  const { peer, within, call } = await answered({}, { onInfo: () => {} });
  within('OPTIONS', [], '', 5);
  await peer.response(200);
  within('OPTIONS', [], '', 4);
  await peer.response(500);
  within('REFER', [['refer-to', '<sip:x@example.com>']]);
  expect((await peer.response(405)).headers.get('allow')).toContain('INVITE');
  within('DANCE');
  await peer.response(501);
  within('INFO', [['require', 'magic, timer']]);
  expect((await peer.response(420)).headers.get('unsupported')).toBe('magic');
  within('PRACK', [['rack', '1 1 INVITE']]);
  await peer.response(481);
  within('BYE', [['reason', 'Q.850;cause=16']]);
  await peer.response(200);
  expect(await call.ended).toMatchObject({ kind: 'hung_up', by: 'remote', q850: 16 });
  within('BYE');
  await peer.response(481);
});

test('a re-INVITE with an unchanged offer keeps the session, another is refused without a word of the user', async () => {
  const { peer, within, call } = await answered({}, {});
  within('INVITE', [], sdpAnswer);
  const kept = await peer.response(200);
  expect(kept.body).toBe(sdpOffer);
  within('ACK', [], '', cseqOf(kept).number);
  await until(() => call.stored?.phase === 'answered');
  within('INVITE', [], sdpAnswer.replace('40002', '40444'));
  await peer.response(488);
});

test('offers that cross get 491, and ours is tried again', async () => {
  const { peer, within, call } = await answered({
    random: { ...systemRandom, number: () => 0 },
  });
  const updated = call.update(sdpOffer.replace('40000', '40008'));
  const ours = await peer.request('INVITE');
  within('INVITE', [], sdpAnswer);
  await peer.response(491);
  peer.respond(ours, 491);
  await peer.request('ACK');
  const again = await peer.request('INVITE');
  expect(cseqOf(again).number).toBe(3);
  peer.respond(again, 200, { sdp: sdpAnswer });
  await peer.request('ACK');
  expect(await updated).toBe(sdpAnswer);
});

test('a storm of requests within a call is not answered without end', async () => {
  const { peer, within } = await answered();
  const before = peer.received.length;
  for (let n = 0; n < 300; n += 1) within('OPTIONS');
  await peer.response(200);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(peer.received.length - before).toBeLessThan(60);
});

test('a storm of re-INVITEs is dropped but for some, and the call goes on after it', async () => {
  const { peer, agent, call, within } = await answered({}, { onOffer: () => sdpAnswer });
  for (let n = 0; n < 300; n += 1) within('INVITE', [], sdpOffer);
  const taken = await peer.response(200);
  within('ACK', [], '', cseqOf(taken).number);
  await new Promise((resolve) => setTimeout(resolve, 100));
  // Twenty in a second, and the storm may meet the begin of another one.
  const heard = new Set(peer.received.map((message) => cseqOf(message).number));
  expect(heard.size).toBeLessThan(60);
  expect(agent.counts().transactions).toBeLessThan(60);
  await until(() => agent.counts().transactions < 10, 'what was answered is over');
  expect(call.stored?.phase).toBe('answered');
  const ended = call.hangUp();
  peer.respond(await peer.request('BYE'), 200);
  expect(await ended).toMatchObject({ kind: 'hung_up', by: 'local' });
});

test('a peer that does not know the call any more ends it', async () => {
  const { peer, call } = await answered();
  const info = call.info('text/plain', 'x');
  peer.respond(await peer.request('INFO'), 481);
  expect(await info).toBe(481);
  peer.respond(await peer.request('BYE'), 481);
  expect(await call.ended).toMatchObject({ kind: 'lost', why: 'gone' });
});

test('long INVITEs over UDP leave out X- headers, and say so', async () => {
  const { peer, place } = await stand();
  let dropped: string[] = [];
  const headers = Array.from({ length: 10 }, (_, n) => [`X-Number-${n}`, 'a'.repeat(100)] as const);
  place({ headers: [...headers, ['P-Kept', 'yes']], onHeadersDropped: (names) => (dropped = names) });
  const invite = await peer.request('INVITE');
  expect(dropped).toHaveLength(10);
  expect([...invite.headers].map(([name]) => name).filter((name) => name.startsWith('x-'))).toEqual([]);
  expect(invite.headers.get('p-kept')).toBe('yes');
});

test('an empty line goes out every so often while a call is up, and no more after it', async () => {
  const { peer, call } = await answered({ keepaliveSeconds: 0.02 });
  await until(() => peer.pings() > 2);
  const ended = call.hangUp();
  peer.respond(await peer.request('BYE'), 200);
  await ended;
  const after = peer.pings();
  await new Promise((resolve) => setTimeout(resolve, 80));
  expect(peer.pings()).toBe(after);
});

test('another process cancels a call by what was stored, on the same branch', async () => {
  const { peer, agent, place } = await stand();
  const stored: StoredDialog[] = [];
  place({ onState: (state) => void stored.push(JSON.parse(JSON.stringify(state))) });
  const invite = await peer.request('INVITE');
  peer.respond(invite, 180);
  await until(() => agent.counts().dialogs === 1);
  expect(stored[0]!.phase).toBe('inviting');
  await agent.stop(0);
  const other = await startAgent();
  const ended = other.endStored(stored.at(-1)!);
  const cancel = await peer.request('CANCEL');
  expect(cancel.headers.get('via')).toContain(topViaOf(invite).parameters.get('branch'));
  peer.respond(cancel, 200);
  peer.respond(invite, 487);
  expect((await peer.request('ACK')).headers.get('cseq')).toBe('1 ACK');
  expect(await ended).toEqual({ kind: 'cancelled', status: 487 });
});

test.each([
  [481, { kind: 'cancelled' }],
  [200, { kind: 'hung_up' }],
  [408, { kind: 'silence' }],
])(
  'where no answer to the INVITE comes any more, the phone that rang is asked whether it is over: %i',
  async (status, end) => {
    const { peer, agent, place } = await stand();
    const stored: StoredDialog[] = [];
    const call = place({ onState: (state) => void stored.push(JSON.parse(JSON.stringify(state))) });
    const invite = await peer.request('INVITE');
    const ringing = peer.respond(invite, 180);
    await until(() => stored.length === 2);
    expect(stored[1]).toEqual(call.stored);
    await agent.stop(0);
    const ended = (await startAgent()).endStored(stored[1]!);
    peer.respond(await peer.request('CANCEL'), 200);
    const bye = await peer.request('BYE');
    expect(bye.headers.get('to')).toBe(ringing.headers.get('to'));
    expect(cseqOf(bye).number).toBeGreaterThan(cseqOf(invite).number);
    peer.respond(bye, status);
    expect(await ended).toMatchObject(end);
  },
);

test('another process hangs up by what was stored; it is told what it could not know', async () => {
  const stored: StoredDialog[] = [];
  const { peer, agent, ack } = await answered(
    {},
    { onState: (state) => void stored.push(JSON.parse(JSON.stringify(state))) },
  );
  await agent.stop(0);
  const other = await startAgent();
  const last = stored.at(-1)!;
  expect(last.phase).toBe('answered');
  const ended = other.endStored(last, { reason: { protocol: 'SIP', cause: 503, text: 'Restart' } });
  const bye = await peer.request('BYE');
  expect(cseqOf(bye).number).toBe(cseqOf(ack).number + 1);
  expect(bye.headers.get('reason')).toBe('SIP;cause=503;text="Restart"');
  peer.respond(bye, 200);
  expect(await ended).toEqual({ kind: 'hung_up' });
  const gone = other.endStored(last);
  peer.respond(await peer.request('BYE'), 481);
  expect(await gone).toEqual({ kind: 'gone' });
  expect(await other.endStored(last)).toMatchObject({ kind: 'silence' });
  const unknown = other.endStored(stored[0]!);
  peer.respond(await peer.request('CANCEL'), 481);
  expect(await unknown).toEqual({ kind: 'gone' });
});

test.each(authority ? (['tcp', 'tls'] as const) : (['tcp'] as const))(
  'a connection that drops in a call is made anew for the BYE: %s',
  async (transport) => {
    const { peer, place } = await stand(authority ? { tls: { ca: authority.ca } } : {}, transport);
    const call = place();
    peer.respond(await peer.request('INVITE'), 200, { sdp: sdpAnswer });
    await peer.request('ACK');
    peer.sockets[0]!.destroy();
    await until(() => peer.sockets[0]!.closed);
    const ended = call.hangUp();
    peer.respond(await peer.request('BYE'), 200);
    expect(await ended).toMatchObject({ kind: 'hung_up' });
    expect(peer.sockets).toHaveLength(2);
  },
);

test('a stopped user agent hangs up, and leaves no timer', async () => {
  const { peer, agent, call } = await answered();
  const stopped = agent.stop();
  peer.respond(await peer.request('BYE'), 200);
  await stopped;
  expect(await call.ended).toMatchObject({ kind: 'hung_up', by: 'local' });
  expect(agent.counts()).toEqual({ calls: 0, dialogs: 0, transactions: 0, timers: 0 });
});

/**
 * A call to three targets of a name, in this order; `passed` tells which were passed over, and why.
 * @param there how many of them are
 */
async function toTargets(more: Partial<InviteOptions> = {}, there = 3) {
  const peers = await Promise.all([startRawPeer(), startRawPeer(), startRawPeer()]);
  const ports = peers.map(({ port }, at) => (at < there ? port : at));
  const agent = await startAgent();
  const passed: string[] = [];
  const stored: number[] = [];
  const call = agent.invite({
    to: 'sip:bob@carrier.test',
    from: 'sip:ada@example.com',
    sdp: sdpOffer,
    targets: ports.map((port) => ({ transport: 'udp', address: '127.0.0.1', port })),
    onState: (state) => {
      if (state.phase === 'inviting') stored.push(ports.indexOf(state.invite.target.port));
    },
    onPassedOn: ({ port }, why) => {
      passed.push(`${ports.indexOf(port)}: ${'kind' in why ? why.status : why.code}`);
    },
    ...more,
  });
  return { peers, call, passed, stored };
}

test('who is out of service before it rings passes the call on: one INVITE at a time, each stored before', async () => {
  const { peers, call, passed, stored } = await toTargets();
  const first = await peers[0]!.request('INVITE');
  peers[0]!.respond(first, 100);
  peers[0]!.respond(first, 503);
  await peers[0]!.request('ACK');
  const second = await peers[1]!.request('INVITE');
  expect(topViaOf(second).parameters.get('branch')).not.toBe(topViaOf(first).parameters.get('branch'));
  expect(second.headers.get('call-id')).toBe(first.headers.get('call-id'));
  peers[1]!.respond(second, 200, { sdp: sdpAnswer });
  await peers[1]!.request('ACK');
  expect(call.target).toMatchObject({ port: peers[1]!.port });
  expect([passed, stored.slice(0, 2)]).toEqual([['0: 503'], [0, 1]]);
  expect(peers[2]!.received).toEqual([]);
});

test.each([
  ['it has rung before', {}, [180, 503]],
  ['it refuses the callee and not the call', {}, [486]],
  ['whoever places it takes a 503 as the last word', { isOutOfService: () => false }, [503]],
] as const)('no other target is asked if %s', async (_, more, answers) => {
  const { peers, call, passed } = await toTargets(more);
  const invite = await peers[0]!.request('INVITE');
  for (const status of answers) peers[0]!.respond(invite, status);
  expect(await call.ended).toMatchObject({ kind: 'rejected', status: answers.at(-1) });
  expect([passed, peers[1]!.received]).toEqual([[], []]);
});

test('no other target is asked after silence', async () => {
  const { call, passed } = await toTargets();
  expect(await call.ended).toMatchObject({ kind: 'silence' });
  expect(passed).toEqual([]);
});

test('if each target is out of service or away, what the first one said is the end', async () => {
  const { peers, call, passed } = await toTargets({}, 1);
  const invite = await peers[0]!.request('INVITE');
  peers[0]!.respond(invite, 503, { headers: [['Retry-After', '7']] });
  expect(await call.ended).toMatchObject({ kind: 'rejected', status: 503, retryAfterSeconds: 7 });
  expect(passed).toEqual(['0: 503', '1: refused', '2: refused']);
});

test('a call that is given up between two targets ends, and goes to no other one', async () => {
  const { peers, call } = await toTargets({ onPassedOn: () => void call.hangUp() });
  const invite = await peers[0]!.request('INVITE');
  peers[0]!.respond(invite, 503);
  expect(await call.ended).toMatchObject({ kind: 'not_sent', code: 'cancelled' });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(peers[1]!.received).toEqual([]);
});

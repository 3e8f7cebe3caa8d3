import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { DigestClient } from '../src/digest-client.ts';
import {
  type IncomingCall,
  type SipRequest,
  type SipResponse,
  systemRandom,
  type UserAgentOptions,
} from '../src/index.ts';
import { createRequest, setBody } from '../src/message.ts';
import { writeMessage } from '../src/write-message.ts';
import { sdpAnswer, sdpOffer, startAgent, until } from './agents.ts';
import { startRawPeer } from './raw-peer.ts';

let branches = 0;

async function stand(options: UserAgentOptions = {}) {
  const peer = await startRawPeer();
  const calls: IncomingCall[] = [];
  const agent = await startAgent({ onInvite: (call) => calls.push(call), ...options });
  const request = (method: string, headers: [string, string][] = [], body?: string) => {
    branches += 1;
    const it = createRequest(method, `sip:+14155550100@127.0.0.1:${agent.port}`);
    it.headers.add('via', `SIP/2.0/UDP 127.0.0.1:${peer.port};branch=z9hG4bKraw${branches};rport`);
    it.headers.add('from', '<sip:raw@127.0.0.1>;tag=raw').add('to', '<sip:+14155550100@127.0.0.1>');
    it.headers.add('call-id', `call${branches}`).add('cseq', `1 ${method}`).add('contact', peer.contact);
    for (const [name, value] of headers) it.headers.set(name, value);
    if (body !== undefined) setBody(it, 'application/sdp', body);
    return it;
  };
  const send = (method: string, headers: [string, string][] = [], body?: string) => {
    const it = request(method, headers, body);
    peer.send(it, agent.port);
    return it;
  };
  const next = async () => {
    await until(() => calls.length > 0, 'a call arrived');
    return calls.shift()!;
  };
  return { peer, agent, calls, request, send, next };
}

/** A request within the dialog that a response has made. */
function within(
  invite: SipRequest,
  response: SipResponse,
  method: string,
  cseq: number,
  headers: [string, string][] = [],
): SipRequest {
  branches += 1;
  const request = createRequest(method, invite.uri);
  request.headers.add('via', `${invite.headers.get('via')!.split(';')[0]};branch=z9hG4bKraw${branches};rport`);
  request.headers.add('from', invite.headers.get('from')!).add('to', response.headers.get('to')!);
  request.headers.add('call-id', invite.headers.get('call-id')!).add('cseq', `${cseq} ${method}`);
  for (const [name, value] of headers) request.headers.add(name, value);
  return request;
}

const quiet = () => new Promise((resolve) => setTimeout(resolve, 60));

test('an answer is sent again until its ACK comes', async () => {
  const { peer, agent, send, next } = await stand();
  const invite = send('INVITE', [], sdpOffer);
  const call = await next();
  let isAnswered = false;
  call.listen({ onAnswered: () => (isAnswered = true) });
  call.answer(sdpAnswer);
  const first = await peer.response(200);
  expect(first.headers.get('to')).toMatch(/;tag=/);
  expect(first.headers.get('contact')).toBe(`<sip:127.0.0.1:${agent.port}>`);
  expect(first.headers.get('allow')).toContain('UPDATE');
  await peer.response(200);
  expect(isAnswered).toBe(false);
  peer.send(within(invite, first, 'ACK', 1), agent.port);
  await until(() => isAnswered);
  const before = peer.received.length;
  await quiet();
  expect(peer.received.length).toBe(before);
  const ended = call.hangUp();
  peer.respond(await peer.request('BYE'), 200);
  await ended;
});

test('an answer whose ACK never comes is hung up after 64 × T1', async () => {
  const { peer, send, next } = await stand();
  send('INVITE', [], sdpOffer);
  const call = await next();
  call.answer(sdpAnswer);
  const bye = await peer.request('BYE');
  peer.respond(bye, 200);
  expect(await call.ended).toMatchObject({ kind: 'lost', why: 'no_ack' });
  expect(
    peer.received.filter((message) => message.kind === 'response' && message.status === 200).length,
  ).toBeGreaterThan(8);
});

test('who answered hangs up only after the ACK', async () => {
  const { peer, agent, send, next } = await stand();
  const invite = send('INVITE', [], sdpOffer);
  const call = await next();
  call.answer(sdpAnswer);
  const ok = await peer.response(200);
  const ended = call.hangUp();
  await quiet();
  expect(peer.has('BYE')).toBe(false);
  peer.send(within(invite, ok, 'ACK', 1), agent.port);
  peer.respond(await peer.request('BYE'), 200);
  expect(await ended).toMatchObject({ kind: 'hung_up', by: 'local' });
});

test('an INVITE without an offer is answered by ours, and the ACK holds the answer', async () => {
  const { peer, agent, send, next } = await stand();
  const invite = send('INVITE');
  const call = await next();
  expect(call.sdp).toBeUndefined();
  let heard: string | undefined;
  call.listen({ onAnswer: (sdp) => (heard = sdp) });
  call.answer(sdpOffer);
  const ok = await peer.response(200);
  const ack = within(invite, ok, 'ACK', 1);
  setBody(ack, 'application/sdp', sdpAnswer);
  peer.send(ack, agent.port);
  await until(() => heard === sdpAnswer);
});

test('a re-INVITE without an offer is answered by ours; the ACK holds the answer', async () => {
  const { peer, agent, send, next } = await stand();
  const invite = send('INVITE', [], sdpOffer);
  const call = await next();
  const heard: (string | undefined)[] = [];
  call.listen({
    onOffer(offer) {
      heard.push(offer);
      return sdpAnswer;
    },
    onAnswer: (sdp) => heard.push(sdp),
  });
  call.answer(sdpAnswer);
  const ok = await peer.response(200);
  peer.send(within(invite, ok, 'ACK', 1), agent.port);
  peer.send(within(invite, ok, 'INVITE', 2), agent.port);
  let second = await peer.response(200);
  while (!second.headers.get('cseq')!.startsWith('2')) second = await peer.response(200);
  expect(second.body).toBe(sdpAnswer);
  const ack = within(invite, ok, 'ACK', 2);
  setBody(ack, 'application/sdp', sdpOffer);
  peer.send(ack, agent.port);
  await until(() => heard.length === 2);
  expect(heard).toEqual([undefined, sdpOffer]);
});

test('an offer that is taken back, or refused for its timer, changes nothing: the user hears that its answer was not sent', async () => {
  const { peer, agent, send, next } = await stand();
  const invite = send('INVITE', [], sdpOffer);
  const call = await next();
  let give = (_answer: string) => {};
  const heard: string[] = [];
  call.listen({
    onOffer: () => new Promise((resolve) => (give = resolve)),
    onAnswerUnsent: () => heard.push('unsent'),
  });
  call.answer(sdpAnswer);
  const ok = await peer.response(200);
  peer.send(within(invite, ok, 'ACK', 1), agent.port);
  const timers: [string, string][] = [
    ['supported', 'timer'],
    ['session-expires', '60'],
  ];
  const often = within(invite, ok, 'INVITE', 2, timers);
  setBody(often, 'application/sdp', sdpOffer);
  peer.send(often, agent.port);
  await peer.response(422);
  const again = within(invite, ok, 'INVITE', 3);
  setBody(again, 'application/sdp', sdpOffer);
  peer.send(again, agent.port);
  await peer.response(100);
  const cancel = createRequest('CANCEL', again.uri);
  for (const name of ['via', 'from', 'to', 'call-id']) cancel.headers.add(name, again.headers.get(name)!);
  cancel.headers.add('cseq', '3 CANCEL');
  peer.send(cancel, agent.port);
  await peer.response(487);
  give(sdpAnswer);
  await until(() => heard.length > 0);
  expect(heard).toEqual(['unsent']);
});

test('a caller that demands it gets a reliable 183, again until its PRACK, and the answer after that', async () => {
  const { peer, agent, send, next } = await stand();
  const invite = send('INVITE', [['require', '100rel']], sdpOffer);
  const call = await next();
  call.ring({ status: 183, sdp: sdpAnswer });
  const progress = await peer.response(183);
  expect(progress.headers.get('require')).toBe('100rel');
  await peer.response(183);
  call.answer(sdpAnswer);
  await quiet();
  expect(peer.has(200)).toBe(false);
  const rack = `${progress.headers.get('rseq')} 1 INVITE`;
  peer.send(within(invite, progress, 'PRACK', 2, [['rack', '1 1 INVITE']]), agent.port);
  await peer.response(481);
  peer.send(within(invite, progress, 'PRACK', 3, [['rack', rack]]), agent.port);
  const [one, two] = [await peer.response(200), await peer.response(200)];
  expect([one, two].map((response) => response.headers.get('cseq')).sort()).toEqual(['1 INVITE', '3 PRACK']);
});

test('a caller that never sends its PRACK is refused', async () => {
  const { peer, send, next } = await stand();
  send('INVITE', [['require', '100rel']], sdpOffer);
  const call = await next();
  call.ring();
  await peer.response(504);
  expect(await call.ended).toMatchObject({ kind: 'rejected', status: 504 });
});

test('CANCEL and BYE end a call that rings; a CANCEL of nothing gets 481', async () => {
  const { peer, agent, send, next } = await stand();
  const invite = send('INVITE', [], sdpOffer);
  const call = await next();
  const cancel = createRequest('CANCEL', invite.uri);
  for (const name of ['via', 'from', 'to', 'call-id']) cancel.headers.add(name, invite.headers.get(name)!);
  cancel.headers.add('cseq', '1 CANCEL').add('reason', 'SIP;cause=200;text="Call completed elsewhere"');
  peer.send(cancel, agent.port);
  await peer.response(200);
  await peer.response(487);
  expect(await call.ended).toEqual({
    kind: 'cancelled',
    by: 'remote',
    status: 487,
    reasons: [{ protocol: 'SIP', cause: 200, text: 'Call completed elsewhere' }],
  });
  const second = send('INVITE', [], sdpOffer);
  const other = await next();
  other.ring();
  const ringing = await peer.response(180);
  peer.send(within(second, ringing, 'BYE', 2), agent.port);
  expect(await other.ended).toMatchObject({ kind: 'cancelled', by: 'remote' });
  send('CANCEL');
  await peer.response(481);
});

test('a call that nobody takes is rejected after its ring timeout', async () => {
  const { peer, send, next } = await stand({ ringTimeoutMs: 50 });
  send('INVITE', [], sdpOffer);
  const call = await next();
  await peer.response(480);
  expect(await call.ended).toMatchObject({ kind: 'rejected', status: 480 });
});

test.each<[string, [string, string][], string | undefined, number]>([
  ['INVITE', [['require', 'magic']], undefined, 420],
  [
    'INVITE',
    [
      ['session-expires', '30'],
      ['supported', 'timer'],
    ],
    undefined,
    422,
  ],
  ['OPTIONS', [], undefined, 200],
  ['OPTIONS', [['to', '<sip:a@127.0.0.1>;tag=unknown']], undefined, 481],
  ['BYE', [], undefined, 481],
  ['INFO', [], undefined, 481],
  ['REGISTER', [], undefined, 405],
  ['SUBSCRIBE', [], undefined, 405],
  ['DANCE', [], undefined, 501],
])('%s with %j is answered by itself', async (method, headers, body, status) => {
  const { peer, send, agent } = await stand();
  send(method, headers, body);
  const response = await peer.response(status);
  if (status === 405 || method === 'OPTIONS') expect(status === 481 || response.headers.get('allow')).toBeTruthy();
  if (status === 420) expect(response.headers.get('unsupported')).toBe('magic');
  if (status === 422) expect(response.headers.get('min-se')).toBe('90');
  expect(agent.counts().calls).toBe(0);
});

test('a body that is no session description, another scheme, and nobody who takes calls', async () => {
  const { peer, agent, request } = await stand();
  const pidf = request('INVITE');
  setBody(pidf, 'application/pidf+xml', '<x/>');
  peer.send(pidf, agent.port);
  expect((await peer.response(415)).headers.get('accept')).toBe('application/sdp');
  peer.send({ ...request('INVITE'), uri: 'mailto:a@example.com' }, agent.port);
  await peer.response(416);
  const other = await startAgent();
  peer.send(request('INVITE'), other.port);
  await peer.response(480);
});

test('an INVITE that arrives on two ways is one call', async () => {
  const { peer, agent, request, calls } = await stand();
  const invite = request('INVITE', [], sdpOffer);
  peer.send(invite, agent.port);
  await until(() => calls.length === 1);
  const again = request('INVITE', [['call-id', invite.headers.get('call-id')!]], sdpOffer);
  peer.send(again, agent.port);
  await peer.response(482);
  expect(calls).toHaveLength(1);
});

test('a challenge is never longer than what asked for it, is sent once, and comes before all else', async () => {
  const passwordOf = () => 'secret';
  const { peer, send } = await stand({ admit: () => 'challenge', authentication: { realm: 'r', passwordOf } });
  send('INVITE');
  await quiet();
  expect(peer.received).toEqual([]);
  const long = send('INVITE', [['require', 'nothing-we-know']], sdpOffer.padEnd(600, 'a=more\r\n'));
  const { headers } = await peer.response(401);
  expect(headers.all('www-authenticate')).toEqual([
    expect.stringContaining('algorithm=SHA-256'),
    expect.stringContaining('algorithm=MD5'),
  ]);
  expect(headers.get('call-id')).toBe(long.headers.get('call-id'));
  await quiet();
  expect(peer.has(401)).toBe(false);
});

test('a CANCEL that comes while the password is looked up ends the call', async () => {
  let look!: (password: string) => void;
  let isLooking = false;
  const passwordOf = () => {
    isLooking = true;
    return new Promise<string>((resolve) => {
      look = resolve;
    });
  };
  const { peer, agent, send, calls } = await stand({
    admit: () => 'challenge',
    authentication: { realm: 'r', passwordOf },
  });
  const long = sdpOffer.padEnd(600, 'a=more\r\n');
  const first = send('INVITE', [], long);
  const { headers } = await peer.response(401);
  const client = new DigestClient({ username: 'ada', password: 'secret' }, systemRandom);
  client.learn({ kind: 'response', status: 401, phrase: '', headers, body: '' }, new Map());
  const callId = first.headers.get('call-id')!;
  const authorized = createRequest('INVITE', first.uri);
  client.authorize(authorized);
  const invite = send(
    'INVITE',
    [
      ['call-id', callId],
      ['authorization', authorized.headers.get('authorization')!],
    ],
    long,
  );
  await until(() => isLooking, 'the password is looked up');
  send('CANCEL', [
    ['call-id', callId],
    ['via', invite.headers.get('via')!],
    ['cseq', '1 CANCEL'],
  ]);
  await peer.response(487);
  look('secret');
  await quiet();
  expect(calls).toHaveLength(0);
  expect([100, 200, 401].map((status) => [status, peer.has(status)])).toEqual([
    [100, false],
    [200, true],
    [401, false],
  ]);
  expect(agent.counts().calls).toBe(0);
});

test('who may not be answered now gets no packet, neither without nor with an answer to a challenge', async () => {
  const asked: boolean[] = [];
  let isAllowed = true;
  let lookedUp = 0;
  const { peer, send } = await stand({
    admit: () => 'challenge',
    authentication: {
      realm: 'r',
      passwordOf() {
        lookedUp += 1;
        return 'secret';
      },
      allows(_request, _source, isTry) {
        asked.push(isTry);
        return isAllowed;
      },
    },
  });
  const long = sdpOffer.padEnd(600, 'a=more\r\n');
  const first = send('INVITE', [], long);
  const nonce = /nonce="([^"]+)"/.exec((await peer.response(401)).headers.get('www-authenticate')!)![1];
  isAllowed = false;
  const answer = (given: string) => `Digest realm="r", nonce="${given}", qop=auth, username="a", uri="x", nc=00000001`;
  const callId = first.headers.get('call-id')!;
  send(
    'INVITE',
    [
      ['call-id', callId],
      ['authorization', answer(nonce!)],
    ],
    long,
  );
  send('INVITE', [['authorization', answer(nonce!)]], long);
  send('INVITE', [['call-id', callId]], long);
  await until(() => asked.length === 4, 'all were judged');
  await quiet();
  expect(asked).toEqual([false, true, false, false]);
  expect([peer.has(401), lookedUp]).toEqual([false, 0]);
});

test('who is not admitted gets no packet, whatever he sends', async () => {
  const { peer, agent, send, calls } = await stand({
    admit: (request) => (request.method === 'OPTIONS' ? 'accept' : 'ignore'),
  });
  for (const method of ['INVITE', 'REGISTER', 'BYE', 'CANCEL', 'ACK', 'MESSAGE']) send(method);
  send('INVITE', [['to', '<sip:a@127.0.0.1>;tag=guess']]);
  send('OPTIONS');
  await peer.response(200);
  await quiet();
  expect(peer.received).toHaveLength(1);
  expect(calls).toHaveLength(0);
  expect(agent.counts().transactions).toBe(1);
});

test('an exception of the user’s is told, and hurts nobody', async () => {
  const errors: unknown[] = [];
  const { peer, send } = await stand({
    onInvite() {
      throw new Error('mine');
    },
    onError: (error) => errors.push(error),
  });
  send('INVITE', [], sdpOffer);
  await peer.response(500);
  expect(errors).toEqual([new Error('mine')]);
});

test('garbage gets no reply', async () => {
  const { peer, agent, request, send } = await stand();
  const text = writeMessage(request('OPTIONS'));
  const bad = [
    'hello there, this is not SIP at all, but it is long enough',
    text.replace('SIP/2.0\r\n', 'SIP/3.0\r\n'),
    text.replace('CSeq: 1 OPTIONS', 'CSeq: 1 INVITE'),
    text.replace('Call-ID', 'X-Call-ID'),
    text.replace('Content-Length: 0', 'Content-Length: 9'),
    text.replace(/Via: .*\r\n/, ''),
    Buffer.alloc(2000, 0xff),
    Buffer.alloc(60_000, 'a'),
  ];
  for (const each of bad) peer.send(each, agent.port);
  send('OPTIONS');
  await peer.response(200);
  await quiet();
  expect(peer.received).toHaveLength(1);
});

test('answers go to where a request came from, whatever its Via says', async () => {
  const { agent, request } = await stand();
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const heard = new Promise<string>((resolve) => socket.once('message', (bytes) => resolve(bytes.toString())));
  const options = request('OPTIONS');
  options.headers.set('via', 'SIP/2.0/UDP 192.0.2.66:9;branch=z9hG4bKspoof;rport;received=192.0.2.67');
  socket.send(writeMessage(options), agent.port, '127.0.0.1');
  const text = await heard;
  expect(text).toContain(`rport=${socket.address().port}`);
  expect(text).toContain('received=127.0.0.1');
  socket.close();
});

test('over TCP messages may be split and merged, and what can not be followed closes the connection', async () => {
  const { agent, request } = await stand();
  // Closed with something unread, it is reset.
  const socket = connect(agent.port, '127.0.0.1').on('error', () => {});
  let heard = '';
  socket.on('data', (chunk) => (heard += chunk));
  const two = Buffer.from(writeMessage(request('OPTIONS')) + writeMessage(request('OPTIONS')));
  for (let at = 0; at < two.length; at += 50) {
    socket.write(two.subarray(at, at + 50));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await until(() => heard.split('SIP/2.0 200').length === 3);
  socket.write('\r\n\r\n');
  await until(() => heard.endsWith('\r\n\r\n\r\n'));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write('OPTIONS sip:a SIP/2.0\r\nContent-Length: many\r\n\r\n');
  await closed;
});

import { describe, expect, test } from 'vitest';
import type { CallEnd, IncomingCall, Progress, TransportName, UserAgentOptions } from '../src/index.ts';
import { sdpAnswer, sdpOffer, startAgent, until } from './agents.ts';
import { createAuthority } from './certificates.ts';
import { startRawPeer } from './raw-peer.ts';

const authority = createAuthority();
const own = authority?.issue('DNS:localhost,IP:127.0.0.1');
const transports: TransportName[] = authority ? ['udp', 'tcp', 'tls'] : ['udp', 'tcp'];
if (!authority) console.warn('openssl is not installed: nothing is tried over TLS.');
const tls = authority && own ? { tls: { ...own, port: 0, ca: authority.ca } } : {};

async function pair(transport: TransportName, options: UserAgentOptions = {}) {
  const arrived: IncomingCall[] = [];
  const callee = await startAgent({ ...tls, onInvite: (call) => arrived.push(call), ...options });
  const caller = await startAgent({ ...tls });
  const port = transport === 'tls' ? callee.tlsPort : callee.port;
  const to = `sip:+14155550100@127.0.0.1:${port}`;
  const call = { to, from: '"Ada" <sip:+14155550199@example.com>', transport, sdp: sdpOffer };
  const next = async () => {
    await until(() => arrived.length > 0, 'a call arrived');
    return arrived.shift()!;
  };
  return { caller, callee, call, next };
}

const kindOf = (end: CallEnd) => end.kind;

describe.each(transports)('over %s', (transport) => {
  test('a call rings, is answered, and is hung up by the caller', async () => {
    const { caller, callee, call, next } = await pair(transport);
    const told: string[] = [];
    const progress: Progress[] = [];
    const outgoing = caller.invite({
      ...call,
      headers: [['X-Trunkline-Id', '7']],
      onProgress: (each) => progress.push(each),
      onAnswered: ({ sdp }) => told.push(`answered ${sdp === sdpAnswer}`),
      onEnded: ({ kind }) => told.push(kind),
    });
    const incoming = await next();
    expect(incoming.requestUri).toBe(call.to);
    expect(incoming.sdp).toBe(sdpOffer);
    expect(incoming.request.headers.get('x-trunkline-id')).toBe('7');
    expect(incoming.request.headers.get('from')).toMatch(/^"Ada" <sip:\+14155550199@example\.com>;tag=/);
    incoming.ring();
    await until(() => progress.some(({ status }) => status === 180));
    incoming.listen({ onAnswered: () => told.push('acknowledged') });
    incoming.answer(sdpAnswer);
    await until(() => told.includes('acknowledged'));
    expect(told).toEqual(['answered true', 'acknowledged']);
    const ended = await outgoing.hangUp({ protocol: 'Q.850', cause: 16, text: 'Bye' });
    expect(ended).toEqual({ kind: 'hung_up', by: 'local', reasons: [] });
    expect(await incoming.ended).toEqual({
      kind: 'hung_up',
      by: 'remote',
      reasons: [{ protocol: 'Q.850', cause: 16, text: 'Bye' }],
      q850: 16,
    });
    await until(() => caller.counts().dialogs + callee.counts().dialogs === 0, 'no dialog was left');
    expect(caller.counts().calls + callee.counts().calls).toBe(0);
  });

  test('the callee hangs up, and says why', async () => {
    const { caller, call, next } = await pair(transport);
    const outgoing = caller.invite(call);
    const incoming = await next();
    incoming.answer(sdpAnswer);
    await incoming.hangUp({ protocol: 'Q.850', cause: 31 });
    expect(await outgoing.ended).toMatchObject({ kind: 'hung_up', by: 'remote', q850: 31 });
  });

  test('the caller gives up while it rings', async () => {
    const { caller, call, next } = await pair(transport);
    const progress: number[] = [];
    const outgoing = caller.invite({ ...call, onProgress: ({ status }) => progress.push(status) });
    const incoming = await next();
    incoming.ring();
    await until(() => progress.includes(180));
    expect(await outgoing.hangUp({ protocol: 'SIP', cause: 200, text: 'Elsewhere' })).toMatchObject({
      kind: 'cancelled',
      by: 'local',
      status: 487,
    });
    expect(await incoming.ended).toMatchObject({
      kind: 'cancelled',
      by: 'remote',
      reasons: [{ protocol: 'SIP', cause: 200, text: 'Elsewhere' }],
    });
  });

  test('the caller gives up after the ring timeout', async () => {
    const { caller, call, next } = await pair(transport);
    const outgoing = caller.invite({ ...call, ringTimeoutMs: 1000 });
    (await next()).ring();
    expect(await outgoing.ended).toMatchObject({ kind: 'cancelled', by: 'ring_timeout', status: 487 });
  });

  test.each([486, 404, 603, 503, 302])('the callee rejects with %i', async (status) => {
    const { caller, call, next } = await pair(transport);
    const outgoing = caller.invite(call);
    (await next()).reject(status, {
      headers: [
        ['Retry-After', '30'],
        ['Contact', '<sip:elsewhere@127.0.0.1:9>'],
      ],
      reason: { protocol: 'Q.850', cause: 34 },
    });
    expect(await outgoing.ended).toMatchObject({ kind: 'rejected', status, retryAfterSeconds: 30, q850: 34 });
  });

  test('a caller who must know a password is challenged, also for what follows in the call', async () => {
    const users = new Map([['ada', 'secret']]);
    const authentication = { realm: 'example.com', passwordOf: (username: string) => users.get(username) };
    const { caller, call, next } = await pair(transport, { authentication, admit: () => 'challenge' });
    const outgoing = caller.invite({ ...call, credentials: { username: 'ada', password: 'secret' } });
    const incoming = await next();
    expect(incoming.username).toBe('ada');
    expect(incoming.request.headers.get('authorization')).toContain('algorithm=SHA-256');
    incoming.answer(sdpAnswer);
    await incoming.hangUp();
    expect(kindOf(await outgoing.ended)).toBe('hung_up');
    const wrong = caller.invite({ ...call, credentials: { username: 'ada', password: 'wrong' } });
    expect(await wrong.ended).toMatchObject({ kind: 'rejected', status: 401 });
    const without = caller.invite(call);
    expect(await without.ended).toMatchObject({ kind: 'rejected', status: 401 });
  });

  test('both offer a changed session, one after the other; keys are sent by INFO', async () => {
    const { caller, call, next } = await pair(transport);
    const outgoing = caller.invite({ ...call, onOffer: (offer) => offer?.replace('40002', '40010') });
    const incoming = await next();
    const infos: string[] = [];
    incoming.listen({ onOffer: () => sdpAnswer.replace('40002', '40004'), onInfo: ({ body }) => infos.push(body) });
    incoming.answer(sdpAnswer);
    await until(() => outgoing.stored?.phase === 'answered');
    expect(await outgoing.update(sdpOffer.replace('40000', '40020'))).toContain('40004');
    await until(() => incoming.stored.phase === 'answered');
    expect(await incoming.update(sdpAnswer)).toContain('40010');
    expect(await outgoing.info('application/dtmf-relay', 'Signal=5')).toBe(200);
    expect(infos).toEqual(['Signal=5']);
    await outgoing.hangUp();
    await incoming.ended;
  });
});

test('what can not be placed surely never left', async () => {
  const caller = await startAgent({ mayConnect: (address) => address !== '127.0.0.2' });
  const from = 'sip:a@example.com';
  const { port } = await startRawPeer();
  const { port: sixPort } = await startRawPeer('udp', '::1');
  const ends = await Promise.all([
    caller.invite({ to: 'sip:b@127.0.0.1:1', from, transport: 'tcp' }).ended,
    caller.invite({ to: 'sip:b@127.0.0.1:1', from }).ended,
    caller.invite({ to: 'sip:b@127.0.0.2:5060', from }).ended,
    caller.invite({ to: `sip:b@[::1]:${sixPort}`, from }).ended,
    caller.invite({ to: 'nobody', from }).ended,
    caller.invite({ to: `sip:b@127.0.0.1:${port}`, from, headers: [['X-A', 'b\r\nX-B: c']] }).ended,
    caller.invite({ to: `sip:b@127.0.0.1:${port}`, from, headers: [['Via', 'x']] }).ended,
    caller.invite({ to: `sip:b@127.0.0.1:${port}`, from: 'b' }).ended,
    caller.invite({ to: `sip:b@127.0.0.1:${port}`, from, onState: () => Promise.reject(new Error('no room')) }).ended,
    caller.invite({ to: `sip:b@127.0.0.1:${port}`, from }).hangUp(),
  ]);
  expect(ends.map((end) => (end.kind === 'not_sent' ? end.code : end.kind))).toEqual([
    'refused',
    'refused',
    'not_allowed',
    'unsupported',
    'invalid',
    'invalid',
    'invalid',
    'invalid',
    'not_stored',
    'cancelled',
  ]);
});

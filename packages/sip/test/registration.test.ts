import { expect, test } from 'vitest';
import { type RegistrationState, systemRandom } from '../src/index.ts';
import { cseqOf, type SipRequest } from '../src/message.ts';
import { startAgent, until } from './agents.ts';
import { type RawPeer, startRawPeer } from './raw-peer.ts';
import { TestClock } from './test-clock.ts';

const credentials = { username: 'ada', password: 'secret' };

async function stand(options: { transport?: 'udp' | 'tcp'; expiresSeconds?: number; user?: string } = {}) {
  const { transport = 'udp', expiresSeconds, user } = options;
  const peer = await startRawPeer(transport);
  const clock = new TestClock();
  const agent = await startAgent({
    clock,
    keepaliveSeconds: 0,
    random: { ...systemRandom, number: () => 0.5 },
  });
  const states: RegistrationState[] = [];
  const registration = agent.register({
    registrar: `sip:127.0.0.1:${peer.port}`,
    address: 'sip:ada@example.com',
    transport,
    credentials,
    ...(expiresSeconds !== undefined && { expiresSeconds }),
    ...(user !== undefined && { contactUser: user }),
    onState: (state) => states.push(state),
  });
  const last = async (status: RegistrationState['status'], count = 1) => {
    await until(() => states.filter((state) => state.status === status).length >= count, status);
    return states.at(-1)!;
  };
  return { peer, clock, agent, registration, states, last };
}

const ok = (peer: RawPeer, register: SipRequest, seconds: number) =>
  peer.respond(register, 200, {
    headers: [['contact', `<sip:other@192.0.2.1>;expires=9, ${register.headers.get('contact')};expires=${seconds}`]],
  });

test('it registers with a challenge, refreshes before the end, and unregisters at the stop', async () => {
  const { peer, clock, registration, last, agent } = await stand({ user: 'token' });
  const first = await peer.request('REGISTER');
  expect(Object.fromEntries(first.headers)).toMatchObject({
    from: expect.stringMatching(/^<sip:ada@example\.com>;tag=/),
    to: '<sip:ada@example.com>',
    contact: `<sip:token@127.0.0.1:${agent.port}>`,
    expires: '3600',
  });
  expect(first.uri).toBe(`sip:127.0.0.1:${peer.port}`);
  peer.respond(first, 401, {
    headers: [['www-authenticate', 'Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256']],
  });
  const second = await peer.request('REGISTER');
  expect(second.headers.get('authorization')).toContain('username="ada"');
  expect(second.headers.get('call-id')).toBe(first.headers.get('call-id'));
  expect(cseqOf(second).number).toBe(2);
  ok(peer, second, 600);
  const state = await last('registered');
  expect(state).toMatchObject({ expiresAt: clock.now() + 600_000, flow: { transport: 'udp', port: peer.port } });
  await clock.advance(299_900);
  expect(peer.has('REGISTER')).toBe(false);
  await clock.advance(110);
  const refresh = await peer.request('REGISTER');
  expect(refresh.headers.get('authorization')).toContain('nc=00000002');
  ok(peer, refresh, 600);
  await last('registered', 2);
  const stopped = registration.stop();
  const leave = await peer.request('REGISTER');
  expect(leave.headers.get('expires')).toBe('0');
  expect(leave.headers.get('contact')).toBe(first.headers.get('contact'));
  peer.respond(leave, 200);
  await stopped;
  expect(registration.state).toEqual({ status: 'unregistered' });
  await clock.advance(10_000_000);
  expect(peer.has('REGISTER')).toBe(false);
  expect(agent.counts()).toMatchObject({ calls: 0, timers: 0 });
});

test('423 is answered at once with what the registrar wants, within bounds', async () => {
  const { peer, clock, last } = await stand({ expiresSeconds: 60 });
  peer.respond(await peer.request('REGISTER'), 423, { headers: [['min-expires', '1800']] });
  for (let n = 0; n < 500 && !peer.has('REGISTER'); n += 1) await clock.advance(0);
  const second = await peer.request('REGISTER');
  expect(second.headers.get('expires')).toBe('1800');
  peer.respond(second, 423, { headers: [['min-expires', '99999999']] });
  expect(await last('failed')).toMatchObject({ sipStatus: 423, retryAt: clock.now() + 60_000 });
});

test('a registrar that says no is asked again after a minute, one that is full when it says', async () => {
  const { peer, clock, states, last } = await stand();
  for (let n = 0; n < 2; n += 1)
    peer.respond(await peer.request('REGISTER'), 401, {
      headers: [['www-authenticate', `Digest realm="r", nonce="${n}", qop="auth"`]],
    });
  expect(await last('failed')).toMatchObject({
    message: '401 Unauthorized',
    sipStatus: 401,
    retryAt: clock.now() + 60_000,
  });
  await clock.advance(60_000);
  peer.respond(await peer.request('REGISTER'), 503, { headers: [['retry-after', '300']] });
  expect(await last('failed', 2)).toMatchObject({ sipStatus: 503, retryAt: clock.now() + 300_000 });
  await clock.advance(300_000);
  ok(peer, await peer.request('REGISTER'), 100);
  await last('registered');
  expect(states.map(({ status }) => status)).toEqual(['failed', 'failed', 'registered']);
});

test('silence is asked again after a wait that doubles, and never in longer than half an hour', async () => {
  const { peer, clock, states, last } = await stand();
  const waits: number[] = [];
  for (let n = 1; n <= 9; n += 1) {
    await peer.request('REGISTER');
    await clock.advance(640);
    const state = await last('failed', n);
    const wait = state.status === 'failed' ? state.retryAt - clock.now() : 0;
    waits.push(wait);
    await clock.advance(wait);
  }
  expect(waits).toEqual([22_500, 45_000, 90_000, 180_000, 360_000, 720_000, 1_350_000, 1_350_000, 1_350_000]);
  expect(states.every(({ status }) => status === 'failed')).toBe(true);
});

test('a connection that closes is made anew, and registered again', async () => {
  const { peer, clock, last } = await stand({ transport: 'tcp' });
  const first = await peer.request('REGISTER');
  expect(first.headers.get('contact')).toContain(';transport=tcp');
  ok(peer, first, 600);
  await last('registered');
  peer.sockets[0]!.destroy();
  expect(await last('failed')).toMatchObject({ message: 'The connection with the registrar closed.' });
  await clock.advance(2000);
  ok(peer, await peer.request('REGISTER'), 600);
  await last('registered', 2);
  expect(peer.sockets).toHaveLength(2);
});

test('what can not be registered says why', async () => {
  const agent = await startAgent();
  const failed = (registrar: string, address: string) =>
    new Promise<RegistrationState>((resolve) => agent.register({ registrar, address, onState: resolve }));
  expect(await failed('nowhere', 'sip:a@b')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('no SIP URI'),
  });
  expect(await failed('sip:no-such-host.invalid', 'sip:a@b')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('no address'),
  });
  expect(await failed('sip:127.0.0.1:1;transport=tcp', 'sip:a@b')).toMatchObject({
    message: '127.0.0.1:1 refuses connections.',
  });
});

test('a stop while the first REGISTER is under way takes back what the registrar still grants', async () => {
  const { peer, registration, states } = await stand();
  const first = await peer.request('REGISTER');
  const stopped = registration.stop();
  ok(peer, first, 600);
  const leave = await peer.request('REGISTER');
  expect(leave.headers.get('expires')).toBe('0');
  expect(cseqOf(leave).number).toBe(cseqOf(first).number + 1);
  peer.respond(leave, 200);
  await stopped;
  expect(states.map(({ status }) => status)).toEqual(['unregistered']);
});

test('what is abandoned sends nothing more, and neither does a stop after it', async () => {
  const { peer, clock, registration, last, states } = await stand({ expiresSeconds: 600 });
  ok(peer, await peer.request('REGISTER'), 600);
  await last('registered');
  registration.abandon();
  await registration.stop();
  registration.refresh();
  await clock.advance(3_600_000);
  expect(peer.has('REGISTER')).toBe(false);
  expect(states.at(-1)).toEqual({ status: 'unregistered' });
});

test('a stop while the first REGISTER is under way sends nothing more where the registrar refuses it', async () => {
  const { peer, registration } = await stand();
  peer.respond(await peer.request('REGISTER'), 403);
  await registration.stop();
  expect(peer.has('REGISTER')).toBe(false);
});

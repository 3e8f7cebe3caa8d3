import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createUserAgent, type IncomingCall, type MediaEncryption, parseSdp, SdpSession } from '@trunkline/sip';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthority } from '../../../../../packages/sip/test/certificates.ts';
import { addresses } from '../../../src/config-values.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import { type Peer, startPeer } from '../media/peer.ts';
import { msOf, tone } from '../media/tone.ts';

const HOST = '127.0.0.1';
const SUITE = 'AES_CM_128_HMAC_SHA1_80';
const [AGENT_HERTZ, CALLEE_HERTZ, LATER_HERTZ] = [1000, 450, 600];
const NUMBERS = { preferred: '+14155550100', overTls: '+14155550101', required: '+14155550102', none: '+14155550103' };
const loopback = addresses(HOST);
const authority = createAuthority();

/** A telephone that a call's sound goes to, and how it describes itself. */
async function phoneFor(call: IncomingCall, encryption: MediaEncryption) {
  const far = parseSdp(call.sdp!).media[0]!;
  const phone = await startPeer(far.port);
  phones.push(phone);
  const session = new SdpSession({ address: HOST, port: phone.port, codecs: ['PCMU'], encryption });
  const answered = session.answer(call.sdp!);
  if (answered.refused) throw new Error(answered.refused.text);
  const { srtp } = answered.audio;
  if (srtp) phone.encrypt(srtp);
  return { phone, session, srtp, answer: answered.answer };
}

type Callee = (call: IncomingCall) => Promise<void>;

/** Speaks until the agent has heard it, and it the agent. */
const talks =
  (encryption: MediaEncryption): Callee =>
  async (call) => {
    const { phone, answer } = await phoneFor(call, encryption);
    call.answer(answer);
    await speakUntilHeard(phone, CALLEE_HERTZ);
    await until(() => msOf(AGENT_HERTZ, phone.sound()) >= 400);
    await call.hangUp();
  };

async function speakUntilHeard(phone: Peer, hertz: number): Promise<void> {
  const before = msOf(hertz, agent.sound());
  await until(async () => {
    await phone.speak(tone(hertz, 1600));
    return msOf(hertz, agent.sound()) >= before + 200;
  });
}

const callees: Record<string, Callee> = {
  '+14155550111': talks('required'),
  '+14155550112': talks('none'),
  /** Its packets are encrypted by another key than it has named. */
  '+14155550113': async (call) => {
    const { phone, srtp, answer } = await phoneFor(call, 'required');
    phone.encrypt({ send: { ...srtp!.send, keyAndSalt: randomBytes(30) }, receive: srtp!.receive });
    call.answer(answer);
    await phone.speak(tone(CALLEE_HERTZ, 20_000));
    await call.hangUp();
  },
  /** Offers a new key in the middle of the call. */
  '+14155550114': async (call) => {
    const { phone, answer } = await phoneFor(call, 'required');
    call.answer(answer);
    await speakUntilHeard(phone, CALLEE_HERTZ);
    const anew = new SdpSession({ address: HOST, port: phone.port, codecs: ['PCMU'], encryption: 'required' });
    const { audio } = anew.readAnswer((await call.update(anew.offer()))!);
    const before = phone.heard.length;
    phone.encrypt(audio!.srtp!);
    await speakUntilHeard(phone, LATER_HERTZ);
    await until(() => phone.heard.length > before + 20);
    await call.hangUp();
  },
  '+14155550115': async (call) => call.reject(488),
};

let server: TestServer;
let agent: Agent;
let carrier: Awaited<ReturnType<typeof createUserAgent>>;
let agentId: string;
let folder: string;
const phones: Peer[] = [];
const arrived: IncomingCall[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'encrypted-calls-'));
  agent = await startAgent((socket) =>
    socket.on('message', (data) => {
      if (JSON.parse(String(data)).event === 'start') agent.say(tone(AGENT_HERTZ, 40_000));
    }),
  );
  carrier = await createUserAgent({
    host: HOST,
    port: 0,
    ...(authority && { tls: { port: 0, ...authority.issue(`IP:${HOST}`) } }),
    onInvite: (call) => {
      arrived.push(call);
      const user = decodeURIComponent(/^sips?:([^@]*)@/.exec(call.requestUri)![1]!);
      void callees[user]!(call);
    },
  });
  const ca = path.join(folder, 'ca.pem');
  writeFileSync(ca, authority?.ca ?? '');
  const rtpPortMin = 31_000 + 2 * Math.floor(Math.random() * 4000);
  server = await startTestServer({
    config: {
      ...{ drainSeconds: 0, sipHost: HOST, sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 99 },
      ...{ sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback },
      ...(authority && { sipTlsCaFile: ca }),
    },
  });
  const connection = { type: 'stream' as const, url: agent.url };
  const made = await server.client.POST('/v1/agents', { body: { name: 'Anna', connection } });
  agentId = made.data!.data.agent.id;
  await numberOver(NUMBERS.preferred, { username: 'a', mediaEncryption: 'preferred', keysInClear: true });
  await numberOver(NUMBERS.required, { username: 'b', mediaEncryption: 'required', keysInClear: true });
  await numberOver(NUMBERS.none, { username: 'c' });
  if (carrier.tlsPort !== undefined)
    await numberOver(NUMBERS.overTls, {
      ...{ terminationUrl: `${HOST}:${carrier.tlsPort}`, transport: 'tls', mediaEncryption: 'required' },
    });
});
afterAll(async () => {
  await server?.stop();
  await agent?.stop();
  await carrier?.stop(0);
  for (const phone of phones) phone.close();
  rmSync(folder, { recursive: true, force: true });
});

async function numberOver(phoneNumber: string, more: object): Promise<void> {
  const body = { terminationUrl: `${HOST}:${carrier.port}`, callsPerSecond: 50, ...more };
  const trunk = await server.client.POST('/v1/telephony/trunks', { body });
  expect(trunk.error).toBeUndefined();
  const numbers = { phoneNumbers: [phoneNumber], trunkId: trunk.data!.id, inboundAgentId: agentId };
  const imported = await server.client.POST('/v1/telephony/phone-numbers/import/manual', { body: numbers });
  expect(imported.data!.rejected).toEqual([]);
}

/** Calls somebody. @returns the call once it is over */
async function call(fromNumber: string, toNumber: string) {
  const { data, error } = await server.client.POST('/v1/calls', { body: { agentId, fromNumber, toNumber } });
  expect(error).toBeUndefined();
  const one = { params: { path: { roomId: data!.roomId } } };
  const read = async () => (await server.client.GET('/v1/calls/{roomId}', one)).data!;
  await until(async () => (await read()).endedAt !== undefined);
  return read();
}

/** What both said in SIP. */
async function said(roomId: string): Promise<string> {
  const one = { params: { path: { roomId } } };
  const messages = async () => (await server.client.GET('/v1/calls/{roomId}/sip', one)).data?.messages ?? [];
  await until(async () => (await messages()).length > 0);
  return (await messages()).map(({ text }) => text).join('\r\n');
}

/** For how many ms the agent's tone is in what the last telephone was sent, as it came. @param tag bytes behind the sound */
const toneOnWire = (tag: number): number =>
  msOf(AGENT_HERTZ, Buffer.concat(phones.at(-1)!.wire.map((datagram) => datagram.subarray(12, datagram.length - tag))));

test.each([
  ['preferred', NUMBERS.preferred, 'RTP/AVP'],
  ['required', NUMBERS.required, 'RTP/SAVP'],
  ...(authority ? [['required, over TLS', NUMBERS.overTls, 'RTP/SAVP'] as const] : []),
] as const)(
  '%s: a call out is encrypted both ways, and neither its tone nor its keys are seen',
  async (_, from, as) => {
    const found = await call(from, '+14155550111');
    expect(found).toMatchObject({ outcome: 'answered', endedBy: 'callee', codec: 'PCMU', encryptedWith: SUITE });
    expect(found.packetsReceived).toBeGreaterThan(10);
    expect(found).not.toHaveProperty('noMediaReason');
    expect(phones.at(-1)!.wire.length).toBeGreaterThanOrEqual(20);
    expect(toneOnWire(10)).toBe(0);
    const sip = await said(found.roomId);
    expect(sip).toContain(`m=audio ${phones.at(-1)!.port} ${as}`);
    expect(sip).toContain(`a=crypto:1 ${SUITE} (hidden)`);
    expect(sip).not.toMatch(/inline/i);
  },
);

test('preferred: who takes no keys is spoken to in clear; required: he is hung up on', async () => {
  const plain = await call(NUMBERS.preferred, '+14155550112');
  expect(plain).toMatchObject({ outcome: 'answered', endedBy: 'callee' });
  expect(plain).not.toHaveProperty('encryptedWith');
  expect(toneOnWire(0)).toBeGreaterThanOrEqual(400);
  // A peer that answers RTP/SAVP without a key is refused by its own session: this one answers in clear.
  callees['+14155550116'] = async (each) => {
    const phone = await startPeer(9);
    phones.push(phone);
    const offer = each.sdp!.replace('RTP/SAVP', 'RTP/AVP').replaceAll(/a=crypto.*\r\n/g, '');
    each.answer(new SdpSession({ address: HOST, port: phone.port, codecs: ['PCMU'] }).answer(offer).answer!);
  };
  expect(await call(NUMBERS.required, '+14155550116')).toMatchObject({ outcome: 'trunk_error', endedBy: 'error' });
});

test('a key that does not fit is told: by the call, and by a test call', async () => {
  const found = await call(NUMBERS.required, '+14155550113');
  expect(found).toMatchObject({ outcome: 'answered', packetsReceived: 0, noMediaReason: 'wrong_key' });
  expect(found.packetsUndeciphered).toBeGreaterThan(50);
  const { data } = await server.client.GET('/v1/telephony/phone-numbers', { params: { query: { perPage: 100 } } });
  const number = data!.items.find(({ phoneNumber }) => phoneNumber === NUMBERS.required)!;
  const test = { params: { path: { id: number.id } }, body: { toNumber: '+14155550113' } };
  const started = await server.client.POST('/v1/telephony/phone-numbers/{id}/test-call', test);
  const one = { params: { path: { roomId: started.data!.roomId } } };
  const read = async () => (await server.client.GET('/v1/telephony/test-calls/{roomId}', one)).data!;
  await until(async () => (await read()).endedAt !== undefined);
  const report = await read();
  expect(report).toMatchObject({ verdict: 'fault', media: { encryptedWith: SUITE, packetsReceived: 0 } });
  expect(report.findings!.map(({ code }) => code)).toEqual(['wrong_key']);
  expect(report.findings![0]!.message).toMatch(/^\d+ packets of sound came/);
});

test('a new key in the middle of a call is taken, and a new one of ours is sent by', async () => {
  const found = await call(NUMBERS.required, '+14155550114');
  expect(found).toMatchObject({ outcome: 'answered', endedBy: 'callee', encryptedWith: SUITE });
  expect(new Set(phones.at(-1)!.heard.map(({ ssrc }) => ssrc)).size).toBe(2);
});

test('who refuses by 488 is not asked again without keys', async () => {
  const before = arrived.length;
  expect(await call(NUMBERS.preferred, '+14155550115')).toMatchObject({ outcome: 'trunk_error', sipStatus: 488 });
  expect(arrived.length).toBe(before + 1);
});

describe('a call in', () => {
  /** @returns the status that it was refused by, or how it was answered */
  async function arrive(toNumber: string, encryption: MediaEncryption) {
    const { port } = arrived[0]!.source.transport === 'udp' ? arrived[0]!.source : arrived.find(isUdp)!.source;
    const phone = await startPeer(9);
    phones.push(phone);
    const session = new SdpSession({ address: HOST, port: phone.port, codecs: ['PCMU'], encryption });
    for (;;) {
      let answer: string | undefined;
      const calling = carrier.invite({
        to: `sip:${toNumber}@${HOST}:${port}`,
        from: '<sip:+14155550177@carrier.example>',
        targets: [{ address: HOST, port, transport: 'udp' }],
        sdp: session.offer(),
        onAnswered: ({ sdp }) => {
          answer = sdp;
        },
      });
      const end = await Promise.race([calling.ended, until(() => answer !== undefined)]);
      if (answer !== undefined) return { session, phone, calling, answer };
      // Until the server has learned whose address this is, nothing comes back.
      if (end?.kind === 'rejected') return end.status;
      await sleep(200);
    }
  }
  const isUdp = ({ source }: IncomingCall) => source.transport === 'udp';

  test('is encrypted if its trunk wants that and it brings keys', async () => {
    const answered = await arrive(NUMBERS.required, 'required');
    if (typeof answered === 'number') throw new Error(`refused by ${answered}`);
    const { audio } = answered.session.readAnswer(answered.answer);
    const phone = await startPeer(audio!.remote.port);
    phones.push(phone);
    phone.encrypt(audio!.srtp!);
    await speakUntilHeard(phone, CALLEE_HERTZ);
    await answered.calling.hangUp();
    const inbound = async () =>
      (await server.client.GET('/v1/calls')).data!.items.find((each) => each.direction === 'inbound');
    await until(async () => (await inbound())?.endedAt !== undefined);
    expect(await inbound()).toMatchObject({ outcome: 'answered', encryptedWith: SUITE });
  });

  test.each([
    ['required', NUMBERS.required, 'none'],
    ['none', NUMBERS.none, 'required'],
    ...(authority ? [['required over TLS, and it comes over UDP', NUMBERS.overTls, 'required'] as const] : []),
  ] as const)('is refused by 488 if its trunk says otherwise: %s', async (_, number, encryption) => {
    expect(await arrive(number, encryption)).toBe(488);
  });
});

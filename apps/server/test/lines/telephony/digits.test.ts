import { type IncomingCall, SdpSession } from '@trunkline/sip';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import { type Peer, startPeer } from '../media/peer.ts';
import { msOf, tone } from '../media/tone.ts';
import { type Calling, FROM, startCalling } from './calling.ts';
import type { Callee } from './carrier.ts';

const KEYS = '0123456789*#ABCD';
const LOW = [697, 770, 852, 941];
const HIGH = [1209, 1336, 1477, 1633];
const PAD = ['123A', '456B', '789C', '*0#D'];

let callee: Callee;
let calling: Calling;
let agent: Agent;
beforeAll(async () => {
  calling = await startCalling((call, answer) => callee(call, answer));
  agent = await startAgent((socket) =>
    socket.on('message', (data) => JSON.parse(String(data)).event === 'start' && agent.say(tone(1000, 1600))),
  );
});
afterAll(async () => {
  await calling[Symbol.asyncDispose]();
  await agent.stop();
});

/** Some keys, and pauses between them, the same for each seed. */
function someDigits(seed: number, length: number): string {
  let state = seed;
  const next = (most: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  return Array.from({ length }, () => KEYS[next(16)]! + ['', '', 'w'][next(3)]!).join('');
}
const bare = (digits: string) => digits.replaceAll(/w/gi, '');

/** The keys that a telephone was sent as events. */
function events(phone: Peer): string {
  const begins = new Map(
    phone.heard
      .filter(({ payloadType }) => payloadType === 101)
      .map((packet) => [packet.timestamp, packet.payload[0]!]),
  );
  return [...begins.values()].map((code) => KEYS[code]).join('');
}

/** Those that it hears as tones: two frequencies that nearly all of 20 ms consist of, by another way than the server's own. */
function tones(phone: Peer): string {
  const sound = phone.sound();
  let keys = '';
  let last = '';
  for (let at = 0; at + 160 <= sound.length; at += 160) {
    const piece = sound.subarray(at, at + 160);
    const found = (hertz: number) => correlation(piece, hertz);
    const row = LOW.findIndex((hertz) => found(hertz) > 0.3);
    const column = HIGH.findIndex((hertz) => found(hertz) > 0.3);
    const key = row >= 0 && column >= 0 ? PAD[row]![column]! : '';
    if (key !== '' && key !== last) keys += key;
    last = key;
  }
  return keys;
}

/** What part of a sound's energy goes with a wave of some hertz, in any phase. */
function correlation(ulaw: Uint8Array, hertz: number): number {
  let [sine, cosine, all] = [0, 0, 0];
  for (const [at, code] of ulaw.entries()) {
    const inverted = ~code & 0xff;
    const magnitude = ((((inverted & 15) << 3) + 0x84) << ((inverted >> 4) & 7)) - 0x84;
    const sample = inverted & 0x80 ? -magnitude : magnitude;
    sine += sample * Math.sin((2 * Math.PI * hertz * at) / 8000);
    cosine += sample * Math.cos((2 * Math.PI * hertz * at) / 8000);
    all += sample * sample;
  }
  return all < 1e6 ? 0 : (2 * (sine * sine + cosine * cosine)) / (all * ulaw.length);
}

/** Answers without a word of telephone-events. */
async function answerWithoutEvents(call: IncomingCall): Promise<Peer> {
  const heard = new SdpSession({ address: '127.0.0.1', port: 9, codecs: ['PCMU'] }).answer(call.sdp!);
  const phone = await startPeer(heard.audio!.remote.port);
  const own = new SdpSession({ address: '127.0.0.1', port: phone.port, codecs: ['PCMU'] }).answer(call.sdp!);
  call.answer(own.answer!.replace(/ 101\r\n/, '\r\n').replaceAll(/a=\w+:101 .*\r\n/g, ''));
  return phone;
}

const roomOf = (roomId: string) => ({ params: { path: { roomId } } });

/** A call that is up, with the telephone at its other end. */
async function talking(
  answering: (call: IncomingCall, answer: () => Promise<Peer>) => Promise<Peer>,
  toNumber: string,
) {
  let phone: Peer | undefined;
  let incoming: IncomingCall | undefined;
  callee = async (call, answer) => {
    incoming = call;
    phone = await answering(call, answer);
    await phone.speak(Buffer.alloc(1600, 0xff));
  };
  const { client } = calling.server;
  const agentId = await calling.agentAt(agent.url);
  const { data } = await client.POST('/v1/calls', { body: { agentId, fromNumber: FROM, toNumber } });
  const { roomId } = data!;
  const read = async () => (await client.GET('/v1/calls/{roomId}', roomOf(roomId))).data!;
  await until(async () => (await read()).status === 'in_progress' && phone && msOf(1000, phone.sound()) > 100);
  return { roomId, phone: phone!, incoming: incoming!, read };
}

async function send({ client }: Pick<TestServer, 'client'>, roomId: string, digits: string, key?: string) {
  const headers = key === undefined ? {} : { 'Idempotency-Key': key };
  const path = { roomId };
  const params = { path, header: headers };
  return client.POST('/v1/calls/{roomId}/dtmf', { params, body: { digits } });
}
async function sent(roomId: string, dtmfId: string) {
  const path = { roomId, dtmfId };
  const read = () => calling.server.client.GET('/v1/calls/{roomId}/dtmf/{dtmfId}', { params: { path } });
  await until(async () => (await read()).data!.endedAt !== undefined);
  return (await read()).data!;
}

test('a menu is walked by random keys, as events: by who holds the call and by another server, each request once', async () => {
  const { roomId, phone, incoming, read } = await talking((_call, answer) => answer(), '+14155550131');
  const { connectionString } = calling.server;
  const other = await startTestServer({ connectionString });
  try {
    const first = someDigits(5, 8);
    const asked = await send(calling.server, roomId, first, 'once');
    expect(asked.data).toMatchObject({ roomId, status: 'waiting' });
    const again = await send(calling.server, roomId, first, 'once');
    expect(again.data!.id).toBe(asked.data!.id);
    expect(again.response.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await send(calling.server, roomId, '1', 'once')).error!.code).toBe('idempotency_key_reused');
    expect(await keptDigests()).toEqual([0]);
    const second = someDigits(9, 5);
    const elsewhere = await send({ client: other.clientOf(calling.server.apiKey) }, roomId, second);
    expect(await sent(roomId, asked.data!.id)).toMatchObject({ status: 'sent' });
    expect(await sent(roomId, elsewhere.data!.id)).toMatchObject({ status: 'sent' });
    expect(events(phone)).toBe(bare(first + second));
    expect(JSON.stringify(await auditOf(roomId))).not.toContain(first);
  } finally {
    await other.stop();
  }
  agent.send(JSON.stringify({ event: 'dtmf', dtmf: { digits: '7W8' } }));
  await until(() => agent.of('trunkline').some((told) => JSON.stringify(told).includes('dtmf_sent')));
  expect(events(phone).slice(-2)).toBe('78');

  expect(await sent(roomId, await lostTake(roomId))).toMatchObject({ status: 'failed', reason: 'server_lost' });
  const refusals = await refuseTwice();
  const late = await send(calling.server, roomId, '45');
  expect(await sent(roomId, late.data!.id)).toMatchObject({ status: 'sent' });
  expect(await refusals()).toBeGreaterThan(2);
  expect(events(phone).slice(-4)).toBe('7845');

  const last = await send(calling.server, roomId, `${'W'.repeat(60)}1`);
  await until(async () => (await dtmf(roomId, last.data!.id)).status === 'sending');
  const more = await Promise.all([...'2345678'].map((digits) => send(calling.server, roomId, digits)));
  expect((await send(calling.server, roomId, '9')).error).toMatchObject({ code: 'limit_reached' });
  void incoming.hangUp();
  for (const { data } of [last, ...more])
    expect(await sent(roomId, data!.id)).toMatchObject({ status: 'failed', reason: 'call_ended' });
  await until(async () => (await read()).endedAt !== undefined);
  expect((await send(calling.server, roomId, '1')).error!.code).toBe('call_not_active');
  const lost = `room_${'0'.repeat(32)}`;
  expect((await send(calling.server, lost, '1')).error!.code).toBe('not_found');
  const unknown = { roomId, dtmfId: `dtmf_${'0'.repeat(32)}` };
  const none = await calling.server.client.GET('/v1/calls/{roomId}/dtmf/{dtmfId}', { params: { path: unknown } });
  expect(none.error!.code).toBe('not_found');
  expect((await send(calling.server, roomId, 'ww')).error).toMatchObject({ code: 'invalid_request' });
});

const dtmf = async (roomId: string, dtmfId: string) => {
  const path = { roomId, dtmfId };
  return (await calling.server.client.GET('/v1/calls/{roomId}/dtmf/{dtmfId}', { params: { path } })).data!;
};
const inDatabase = <T>(query: ReturnType<typeof sql<T>>) =>
  calling.server.database.inEngine(async ({ db }) => (await query.execute(db)).rows);
/** How many bytes of a bare digest, by which a PIN could be found, are kept of each request that has a key. */
const keptDigests = async () =>
  (
    await inDatabase(sql<{ fingerprint: Buffer }>`
      select fingerprint from idempotency_keys where operation = 'sendCallDtmf'`)
  ).map(({ fingerprint }) => fingerprint.length);
/** What is left where the answer to the take's commit was lost, or the process with it. */
async function lostTake(roomId: string): Promise<string> {
  const id = newUuid();
  await inDatabase(sql`
    insert into call_dtmf (workspace_id, id, room_id, status, requested_at)
    select workspace_id, ${id}, id, 'sending', ${calling.server.clock.now()} from calls where id = ${fromId(roomId)}`);
  return toId('dtmf', id);
}
/** Has the database refuse twice to note that digits were sent. @returns reads how often it was asked, and ends that */
async function refuseTwice(): Promise<() => Promise<number>> {
  await inDatabase(sql`create sequence asked`);
  await inDatabase(sql`
    alter table call_dtmf add constraint refused check (status <> 'sent' or nextval('asked') > 2) not valid`);
  return async () => {
    const [row] = await inDatabase(sql<{ last_value: string }>`select last_value from asked`);
    await inDatabase(sql`alter table call_dtmf drop constraint refused`);
    await inDatabase(sql`drop sequence asked`);
    return Number(row!.last_value);
  };
}
const auditOf = async (roomId: string) => {
  const query = { resourceId: roomId };
  const { data } = await calling.server.client.GET('/v1/audit-log', { params: { query } });
  expect(data!.data.items.some(({ action }) => action === 'call.dtmf_sent')).toBe(true);
  return data!.data.items;
};

test('who takes no events is sent tones, and its own tones are heard as keys; in a hold none are sent', async () => {
  const { roomId, phone, incoming } = await talking((call) => answerWithoutEvents(call), '+14155550132');
  const digits = someDigits(3, 8);
  const asked = await send(calling.server, roomId, digits);
  expect(await sent(roomId, asked.data!.id)).toMatchObject({ status: 'sent' });
  expect(events(phone)).toBe('');
  expect(tones(phone)).toBe(bare(digits));
  const heard = phone.heard.length;
  // Longer than echoes are waited for.
  await until(() => phone.heard.length > heard + 20);

  const before = agent.digits().length;
  for (const key of '159#') {
    const [row, column] = [
      PAD.findIndex((keys) => keys.includes(key)),
      PAD.find((keys) => keys.includes(key))!.indexOf(key),
    ];
    await phone.speak(both(LOW[row]!, HIGH[column]!, 800));
    await phone.speak(Buffer.alloc(640, 0xff));
  }
  await until(() => agent.digits().length >= before + 4);
  expect(agent.digits().slice(before)).toBe('159#');

  const hold = new SdpSession({ address: '127.0.0.1', port: phone.port, codecs: ['PCMU'] }).offer();
  await incoming.update(hold.replace('a=sendrecv', 'a=inactive'));
  const held = await send(calling.server, roomId, '1');
  expect(await sent(roomId, held.data!.id)).toMatchObject({ status: 'failed', reason: 'no_sound' });
  await incoming.hangUp();
});

/** Two tones at once, as µ-law. */
function both(low: number, high: number, samples: number): Buffer {
  const [one, other] = [tone(low, samples), tone(high, samples)];
  return Buffer.from(one.map((code, at) => toUlaw(fromUlaw(code) + fromUlaw(other[at]!))));
}
function fromUlaw(code: number): number {
  const inverted = ~code & 0xff;
  const magnitude = ((((inverted & 15) << 3) + 0x84) << ((inverted >> 4) & 7)) - 0x84;
  return inverted & 0x80 ? -magnitude : magnitude;
}
/** By looking for the nearest. */
function toUlaw(pcm: number): number {
  let best = 0;
  for (let code = 1; code < 256; code += 1)
    if (Math.abs(fromUlaw(code) - pcm) < Math.abs(fromUlaw(best) - pcm)) best = code;
  return best;
}

test('a trunk that wants INFO is sent one a key, and no tones', async () => {
  const { client } = calling.server;
  const { data } = await client.GET('/v1/telephony/trunks');
  const trunk = data!.items[0]!;
  expect(trunk.dtmf).toBe('rtp');
  const path = { trunkId: trunk.id };
  const changed = await client.PATCH('/v1/telephony/trunks/{trunkId}', { params: { path }, body: { dtmf: 'info' } });
  expect(changed.data!.dtmf).toBe('info');
  const said: string[] = [];
  const { roomId, phone, incoming } = await talking(async (call, answer) => {
    call.listen({ onInfo: ({ contentType, body }) => void said.push(`${contentType} ${/Signal=(.)/.exec(body)![1]}`) });
    return answer();
  }, '+14155550133');
  const asked = await send(calling.server, roomId, '4w2#');
  expect(await sent(roomId, asked.data!.id)).toMatchObject({ status: 'sent' });
  expect(said).toEqual(['4', '2', '#'].map((key) => `application/dtmf-relay ${key}`));
  expect(events(phone) + tones(phone)).toBe('');
  await incoming.hangUp();
  await client.PATCH('/v1/telephony/trunks/{trunkId}', { params: { path }, body: { dtmf: 'rtp' } });
});

test('a script presses its way through a menu', async () => {
  const { client } = calling.server;
  const steps = [
    { id: 'menu', type: 'press_keys' as const, digits: 'w21' },
    { id: 'code', type: 'press_keys' as const, digits: '9D' },
    { id: 'end', type: 'hang_up' as const },
  ];
  const made = await client.POST('/v1/agents', { body: { name: 'Menu', connection: { type: 'script', steps } } });
  expect(made.error).toBeUndefined();
  const agentId = made.data!.data.agent.id;
  let phone: Peer | undefined;
  let goOn = () => {};
  const refused = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  callee = async (call, answer) => {
    call.ring();
    await refused;
    phone = await answer();
    await phone.speak(Buffer.alloc(800, 0xff));
  };
  const { data } = await client.POST('/v1/calls', { body: { agentId, fromNumber: FROM, toNumber: '+14155550134' } });
  const read = async () => (await client.GET('/v1/calls/{roomId}', roomOf(data!.roomId))).data!;
  await until(async () => (await read()).status === 'ringing');
  expect((await send(calling.server, data!.roomId, '1')).error).toMatchObject({ code: 'invalid_state' });
  goOn();
  await until(async () => (await read()).endedAt !== undefined);
  expect(events(phone!)).toBe('219D');
});

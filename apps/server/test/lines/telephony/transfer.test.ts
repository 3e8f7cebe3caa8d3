import type { IncomingCall } from '@trunkline/sip';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import type { Peer } from '../media/peer.ts';
import { msOf, tone } from '../media/tone.ts';
import { type Calling, FROM, startCalling } from './calling.ts';
import type { Callee } from './carrier.ts';
import { press } from './keys.ts';

const PERSON_HERTZ = 450;
const DESK_HERTZ = 700;
const AGENT_HERTZ = 1000;

/** Who answers, by the number that rings. */
const behind = new Map<string, Callee>();
let calling: Calling;
let agent: Agent;
beforeAll(async () => {
  calling = await startCalling((call, answer) => {
    const user = decodeURIComponent(/^sips?:([^@]*)@/.exec(call.requestUri)![1]!);
    return behind.get(user)!(call, answer);
  });
  agent = await startAgent((socket) =>
    socket.on('message', (data) => JSON.parse(String(data)).event === 'start' && agent.say(tone(AGENT_HERTZ, 1600))),
  );
});
afterAll(async () => {
  await calling[Symbol.asyncDispose]();
  await agent.stop();
});

/** Somebody with a telephone, once they have answered. */
interface Party {
  phone?: Peer;
  call?: IncomingCall;
}
const answersAt = (number: string): Party => {
  const party: Party = {};
  behind.set(number, async (call, answer) => {
    party.call = call;
    call.ring();
    party.phone = await answer();
    await party.phone.speak(Buffer.alloc(800, 0xff));
  });
  return party;
};

const readCall = async (roomId: string) =>
  (await calling.server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId } } })).data!;
const isOver = (roomId: string) => until(async () => (await readCall(roomId)).endedAt !== undefined);
const handOn = (roomId: string, to: string, timeoutSeconds?: number, key?: string) =>
  calling.server.client.POST('/v1/calls/{roomId}/transfer', {
    params: { path: { roomId }, header: key === undefined ? {} : { 'Idempotency-Key': key } },
    body: { to, ...(timeoutSeconds && { timeoutSeconds }) },
  });
const readTransfer = async (roomId: string, transferId: string) =>
  (
    await calling.server.client.GET('/v1/calls/{roomId}/transfer/{transferId}', {
      params: { path: { roomId, transferId } },
    })
  ).data!;
async function settled(roomId: string, transferId: string) {
  await until(async () => (await readTransfer(roomId, transferId)).settledAt !== undefined);
  return readTransfer(roomId, transferId);
}

/** A call that is up with somebody who has heard the agent. */
async function talking(toNumber: string, recording = false): Promise<{ roomId: string; person: Required<Party> }> {
  const person = answersAt(toNumber);
  const agentId = await calling.agentAt(agent.url);
  if (recording)
    await calling.server.client.PATCH('/v1/agents/{agentId}', { params: { path: { agentId } }, body: { recording } });
  const { data } = await calling.server.client.POST('/v1/calls', { body: { agentId, fromNumber: FROM, toNumber } });
  const { roomId } = data!;
  await until(async () => person.phone !== undefined && msOf(AGENT_HERTZ, person.phone.sound()) > 100);
  await until(async () => (await readCall(roomId)).status === 'in_progress');
  return { roomId, person: person as Required<Party> };
}

test('a person is handed on to a desk: both hear each other and their keys, and the agent has left', async () => {
  const { roomId, person } = await talking('+14155550141', true);
  const desk = answersAt('+14155550142');
  const asked = await handOn(roomId, '+14155550142', 20, 'once');
  expect(asked.data).toMatchObject({ roomId, to: '+14155550142', status: 'waiting' });
  expect((await handOn(roomId, '+14155550142', 20, 'once')).data!.id).toBe(asked.data!.id);
  const transfer = await settled(roomId, asked.data!.id);
  expect(transfer).toMatchObject({ status: 'joined' });
  await until(() => agent.of('stop').length === 1);
  await Promise.all([person.phone.speak(tone(PERSON_HERTZ, 8000)), desk.phone!.speak(tone(DESK_HERTZ, 8000))]);
  await until(() => msOf(PERSON_HERTZ, desk.phone!.sound()) >= 800 && msOf(DESK_HERTZ, person.phone.sound()) >= 800);
  expect(msOf(AGENT_HERTZ, desk.phone!.sound())).toBe(0);
  expect(msOf(PERSON_HERTZ, agent.sound())).toBe(0);
  press(person.phone, '7');
  await until(() => desk.phone!.heard.some(({ payloadType, payload }) => payloadType === 101 && payload[0] === 7));
  expect((await handOn(roomId, '+14155550149')).error).toMatchObject({ code: 'invalid_state' });
  expect((await handOn(transfer.legRoomId!, '+14155550149')).error).toMatchObject({ code: 'invalid_state' });

  await desk.call!.hangUp();
  await isOver(roomId);
  await isOver(transfer.legRoomId!);
  expect(await readCall(transfer.legRoomId!)).toMatchObject({
    outcome: 'answered',
    toNumber: '+14155550142',
    fromNumber: FROM,
  });
  expect(await readCall(roomId)).toMatchObject({ outcome: 'answered' });
  expect((await readCall(roomId)).agentEnd).not.toHaveProperty('text');
  await until(async () => (await readCall(roomId)).recording?.status === 'stored');
  expect((await handOn(roomId, '+14155550142')).error).toMatchObject({ code: 'call_not_active' });
  const nowhere = { params: { path: { roomId, transferId: `xfr_${'0'.repeat(32)}` } } };
  const none = await calling.server.client.GET('/v1/calls/{roomId}/transfer/{transferId}', nowhere);
  expect(none.error!.code).toBe('not_found');
  const unknown = await handOn(`room_${'0'.repeat(32)}`, '+14155550142');
  expect(unknown.error!.code).toBe('not_found');
});

test('who is not reached leaves the person with the agent, and another one can be tried', async () => {
  const { roomId, person } = await talking('+14155550143');
  behind.set('+14155550144', (call) => call.reject(486));
  const busy = await handOn(roomId, '+14155550144');
  expect(await settled(roomId, busy.data!.id)).toMatchObject({ status: 'failed', reason: 'busy' });
  const heard = msOf(AGENT_HERTZ, person.phone.sound());
  agent.say(tone(AGENT_HERTZ, 1600));
  await until(() => msOf(AGENT_HERTZ, person.phone.sound()) >= heard + 100);
  const desk = answersAt('+14155550146');
  const asked = await handOn(roomId, '+14155550146');
  const { legRoomId } = await settled(roomId, asked.data!.id);
  await person.call.hangUp();
  await isOver(roomId);
  await isOver(legRoomId!);
  expect((await desk.call!.ended).kind).toBe('hung_up');
});

test('a person who hangs up while it rings there: nobody rings any more', async () => {
  const { roomId, person } = await talking('+14155550147');
  let ringing: IncomingCall | undefined;
  behind.set('+14155550148', (call) => {
    ringing = call;
    call.ring();
  });
  const asked = await handOn(roomId, '+14155550148');
  await until(() => ringing !== undefined);
  await person.call.hangUp();
  expect((await ringing!.ended).kind).toBe('cancelled');
  expect(await settled(roomId, asked.data!.id)).toMatchObject({ status: 'failed', reason: 'cancelled' });
});

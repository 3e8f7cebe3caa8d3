import type { components } from '@trunkline/client/schema';
import { ULAW_SILENCE } from '@trunkline/media';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { uploadSound } from '../../voices/sounds/sounds.ts';
import { toneFile } from '../../voices/sounds/wav-files.ts';
import { type SpeechDouble, startSpeechDouble } from '../../voices/speech/speech-server.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import type { Peer } from '../media/peer.ts';
import { msOf, tone, voiceLike } from '../media/tone.ts';
import { type Calling, FROM, startCalling } from './calling.ts';
import type { Callee } from './carrier.ts';

type Voicemail = components['schemas']['CallVoicemailInput'];

let callee: Callee;
let calling: Calling;
let agent: Agent;
let speech: SpeechDouble;
beforeAll(async () => {
  speech = await startSpeechDouble();
  agent = await startAgent();
  calling = await startCalling((call, answer) => callee(call, answer), undefined, undefined, { speechUrl: speech.url });
});
afterAll(async () => {
  await calling[Symbol.asyncDispose]();
  await agent.stop();
  await speech[Symbol.asyncDispose]();
});

const silence = (ms: number) => Buffer.alloc(ms * 8, ULAW_SILENCE);
const beep = (hertz = 1000, ms = 600) => tone(hertz, ms * 8);
const greeting = Buffer.concat([voiceLike(1600), silence(700)]);
let number = 2000;
function aNumber(): string {
  number += 1;
  return `+1415555${number}`;
}

const make = (more: object = {}) =>
  calling.server.client.POST('/v1/agents', {
    body: { name: 'Anna', connection: { type: 'stream', url: agent.url }, recording: true, ...more },
  });
async function agentWith(more: object = {}): Promise<string> {
  const { data, error } = await make(more);
  expect(error).toBeUndefined();
  return data!.data.agent.id;
}

/** Calls somebody who says something, who is then waited for until the call is over. */
async function callWho(body: object, says: (phone: Peer, ended: Promise<unknown>) => Promise<unknown>) {
  let phone: Peer | undefined;
  let said: Promise<unknown> | undefined;
  callee = async (call, answer) => {
    call.ring();
    phone = await answer();
    said = says(phone, call.ended).then(() => call.hangUp());
    await said;
  };
  const agentId = await agentWith();
  const order = { agentId, fromNumber: FROM, toNumber: aNumber(), ...body };
  const { data, error } = await calling.server.client.POST('/v1/calls', { body: order });
  expect(error).toBeUndefined();
  const path = { roomId: data!.roomId };
  const read = async () => (await calling.server.client.GET('/v1/calls/{roomId}', { params: { path } })).data!;
  await until(async () => (await read()).endedAt !== undefined);
  await said;
  return { call: await read(), read, phone: phone! };
}

/**
 * A machine greets, beeps and records until the call is over; without beeps it listens. If nothing comes of it, it does so again: where the machine of
 * the test stalls, sound is torn.
 */
async function records(phone: Peer, ended: Promise<unknown>, beeps: Buffer | undefined): Promise<void> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  for (let turn = 0; !isOver; turn += 1)
    await phone.speak(beeps && turn % 60 === 0 ? Buffer.concat([greeting, beeps]) : silence(200));
}

/** From where to where each side of a recording is loud, in ms. */
async function loudIn(read: () => Promise<components['schemas']['Call']>) {
  await until(async () => (await read()).recording?.status === 'stored');
  const file = Buffer.from(await (await fetch((await read()).recording!.url!)).arrayBuffer());
  const samples = file.subarray(file.indexOf('data') + 8);
  const isLoud = (at: number) => Math.abs(samples.readInt16LE(at)) > 3000;
  const of = (side: number) => {
    const loud: { from: number; until: number }[] = [];
    for (let at = 2 * side; at + 1 < samples.length; at += 4) {
      const ms = at / 32;
      if (!isLoud(at)) continue;
      if (ms - (loud.at(-1)?.until ?? Number.NEGATIVE_INFINITY) > 100) loud.push({ from: ms, until: ms });
      else loud.at(-1)!.until = ms;
    }
    return loud;
  };
  return { callee: of(0), agent: of(1) };
}

test('a machine is hung up on for hang_up, and a person is not', async () => {
  const voicemail: Voicemail = { action: 'hang_up' };
  const machine = await callWho({ voicemail }, async (phone, ended) => {
    await records(phone, ended, beep());
  });
  expect(machine.call).toMatchObject({
    ...{ answeredBy: 'machine', outcome: 'voicemail', status: 'completed', endedBy: 'service' },
    agentEnd: { reason: 'call_ended' },
  });
  expect(machine.call.messageLeft).toBeUndefined();
  const person = await callWho({ voicemail }, (phone) => phone.speak(Buffer.concat([voiceLike(900), silence(900)])));
  expect(person.call).toMatchObject({ answeredBy: 'human', outcome: 'answered', endedBy: 'callee' });
});

test('a sound is left after the last beep, again if a second one comes, and the recording proves it', async () => {
  const file = toneFile({ rate: 8000, kind: 'pcm16', seconds: 1.5 }, 650);
  const { id: soundId } = await uploadSound(calling.server, 'message.wav', file);
  const voicemail: Voicemail = { action: 'leave_message', soundId };
  const { call, read, phone } = await callWho({ voicemail }, async (phone, ended) => {
    await records(phone, ended, Buffer.concat([beep(), silence(900), beep(1400)]));
  });
  const left = call.messageLeft!;
  expect(call).toMatchObject({ answeredBy: 'machine', outcome: 'voicemail', endedBy: 'service' });
  expect(left).toMatchObject({ complete: true, afterBeep: { hz: expect.any(Number) } });
  expect(new Date(left.startedAt).getTime()).toBe(new Date(call.answeredAt!).getTime() + left.fromMs);
  expect(msOf(650, phone.sound())).toBeGreaterThanOrEqual(1300);

  // By the callee's own time: how it fits that of the recording depends on the machine.
  const behind = left.fromMs - left.afterBeep!.untilMs;
  expect(behind).toBeGreaterThanOrEqual(0);
  expect(behind).toBeLessThanOrEqual(800);
  const there = (await loudIn(read)).agent;
  expect(there.reduce((ms, { from, until }) => ms + until - from, 0)).toBeGreaterThan(1000);
});

test('a text is spoken after two seconds of silence if there is no beep, once the agent knows of the machine', async () => {
  speech.says('Hello Ada, please call us.', { hertz: 750, seconds: 1 });
  const voicemail: Voicemail = { action: 'leave_message', text: 'Hello {{name}}, please call us.', language: 'en-GB' };
  const variables = { name: 'Ada' };
  const before = agent.of('start').length;
  const { call, phone } = await callWho({ voicemail, variables }, async (phone, ended) => {
    await phone.speak(voiceLike(1600));
    await until(() => agent.of('start').length > before);
    agent.send('{"event":"trunkline","trunkline":{"event":"answered_by","answeredBy":"machine"}}');
    agent.say(tone(600, 8000));
    await records(phone, ended, undefined);
  });
  expect(call.messageLeft).toMatchObject({ complete: true });
  expect(call.messageLeft!.afterBeep).toBeUndefined();
  expect(msOf(750, phone.sound())).toBeGreaterThanOrEqual(800);
  // What the agent says to a machine is not heard.
  expect(msOf(600, phone.sound())).toBe(0);
  expect(speech.asked.at(-1)).toMatchObject({ input: 'Hello Ada, please call us.' });
});

test('without a sound and a text the agent is told when to speak, and its own words are the message', async () => {
  const from = agent.messages.length;
  const { call, phone } = await callWho({ voicemail: { action: 'leave_message' } }, async (phone, ended) => {
    const recording = records(phone, ended, beep());
    await until(() => agent.messages.slice(from).some((message) => JSON.stringify(message).includes('leave_message')));
    agent.say(tone(850, 6400));
    agent.mark('said');
    await until(() => agent.messages.slice(from).some(({ mark }) => mark?.name === 'said'));
    agent.connections.at(-1)!.close(1000);
    await recording;
  });
  expect(call).toMatchObject({ outcome: 'voicemail', endedBy: 'agent', messageLeft: { complete: true } });
  expect(msOf(850, phone.sound())).toBeGreaterThanOrEqual(600);
});

test('a machine that hangs up in the message leaves it incomplete', async () => {
  const file = toneFile({ rate: 8000, kind: 'pcm16', seconds: 5 }, 650);
  const { id: soundId } = await uploadSound(calling.server, 'long.wav', file);
  const { call } = await callWho({ voicemail: { action: 'leave_message', soundId } }, async (phone) => {
    while (msOf(650, phone.sound()) < 200) await phone.speak(Buffer.concat([greeting, beep(), silence(2000)]));
  });
  expect(call).toMatchObject({ outcome: 'voicemail', endedBy: 'callee', messageLeft: { complete: false } });
});

test('a message that was left may count, else the person is called again', async () => {
  const file = toneFile({ rate: 8000, kind: 'pcm16', seconds: 0.5 }, 650);
  const { id: soundId } = await uploadSound(calling.server, 'short.wav', file);
  callee = async (call, answer) => {
    call.ring();
    const phone = await answer();
    await records(phone, call.ended, beep());
  };
  const { client } = calling.server;
  const voicemail: Voicemail = { action: 'leave_message', soundId };
  const batch = async (voicemailCounts: boolean) => {
    const recipients = [{ phoneNumber: aNumber() }];
    const body = {
      agentId: await agentWith(),
      fromNumber: FROM,
      recipients,
      retryPolicy: [60],
      voicemail,
      voicemailCounts,
    };
    const { data, error } = await client.POST('/v1/calls/batch', { body });
    expect(error).toBeUndefined();
    return data!.batchId;
  };
  const [counts, doesNot] = await Promise.all([batch(true), batch(false)]);
  const statsOf = async (batchId: string) =>
    (await client.GET('/v1/calls/batch/{batchId}', { params: { path: { batchId } } })).data!;
  await until(async () => (await statsOf(counts)).status === 'completed');
  expect(await statsOf(counts)).toMatchObject({
    voicemail,
    voicemailCounts: true,
    stats: { outcomes: { voicemail: 1 } },
  });
  await until(async () => (await statsOf(doesNot)).stats?.outcomes?.voicemail === 1);
  expect((await statsOf(doesNot)).status).toBe('running');
});

test('an agent’s own setting holds where the call has none, and is read, changed and taken away', async () => {
  const voicemail: Voicemail = { action: 'hang_up' };
  const agentId = await agentWith({ voicemail });
  const params = { path: { agentId } };
  const read = async () => (await calling.server.client.GET('/v1/agents/{agentId}', { params })).data!.data.voicemail;
  expect(await read()).toEqual(voicemail);
  const { call } = await callWho({ agentId }, async (phone, ended) => {
    await records(phone, ended, beep());
  });
  expect(call).toMatchObject({ outcome: 'voicemail', endedBy: 'service' });
  await calling.server.client.PATCH('/v1/agents/{agentId}', { params, body: { voicemail: null } });
  expect(await read()).toBeUndefined();
});

test('what would never be said is refused, and so is a sound that is not there', async () => {
  const refused = async (voicemail: object) => (await make({ voicemail })).error;
  expect(await refused({ action: 'hang_up', text: 'Hello.' })).toMatchObject({
    code: 'invalid_request',
    details: [{ path: '/body/voicemail/text', message: 'Only leave_message takes a text.' }],
  });
  const soundId = 'snd_01932f3c8a7e7bd0a1b2c3d4e5f60718';
  expect(await refused({ action: 'leave_message', soundId })).toMatchObject({ code: 'not_found' });
  expect(await refused({ action: 'leave_message', soundId, text: 'Hello.' })).toMatchObject({
    code: 'invalid_request',
  });
});

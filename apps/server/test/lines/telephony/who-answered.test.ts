import { ULAW_SILENCE } from '@trunkline/media';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import type { Peer } from '../media/peer.ts';
import { tone, voiceLike } from '../media/tone.ts';
import { type Calling, startCalling } from './calling.ts';
import type { Callee } from './carrier.ts';
import { type Scribe, startScribe } from './scribe.ts';

let callee: Callee;
let calling: Calling;
let agent: Agent;
let scribe: Scribe;
beforeAll(async () => {
  agent = await startAgent();
  scribe = await startScribe();
  const settings = { transcribeUrl: scribe.url, transcribeKey: 'a key', transcribeModel: 'a-model' };
  calling = await startCalling((call, answer) => callee(call, answer), undefined, undefined, settings);
});
afterAll(async () => {
  await scribe[Symbol.asyncDispose]();
  await calling[Symbol.asyncDispose]();
  await agent.stop();
});

const silence = (ms: number) => Buffer.alloc(ms * 8, ULAW_SILENCE);
const beep = (hertz: number, ms: number) => tone(hertz, ms * 8);
let number = 0;
function aNumber(): string {
  number += 1;
  return `+1415555${String(number).padStart(4, '0')}`;
}

/** What the agent was told of who answered, in this call. */
const told = (from: number) =>
  agent.messages.slice(from).flatMap((message) => ('trunkline' in message ? [message.trunkline as Told] : []));
interface Told {
  event: string;
  answeredBy?: string;
  confidence?: number;
}

/** Calls somebody who says something, and hangs up. */
async function callWho(says: (phone: Peer) => Promise<unknown>) {
  callee = async (call, answer) => {
    call.ring();
    await says(await answer());
    await call.hangUp();
  };
  const agentId = await calling.agentAt(agent.url);
  const from = agent.messages.length;
  const over = await (await calling.call(agentId, aNumber()))();
  return { call: over, told: told(from) };
}

test('a person is heard by a short greeting, and the agent is told', async () => {
  const { call, told } = await callWho((phone) => phone.speak(Buffer.concat([voiceLike(900), silence(900)])));
  expect(told).toMatchObject([{ event: 'answered_by', answeredBy: 'human', confidence: 0.6 }]);
  expect(call).toMatchObject({
    ...{ answeredBy: 'human', outcome: 'answered', status: 'completed' },
    answeredByEvidence: [{ heard: 'short_greeting', suggests: 'human', confidence: 0.6 }],
  });
});

test('a machine is heard by its beep, whenever it comes, and is a voicemail', async () => {
  const sound = Buffer.concat([voiceLike(1600), silence(700), beep(1000, 600), silence(400)]);
  const { call, told } = await callWho((phone) => phone.speak(sound));
  expect(told.map(({ answeredBy }) => answeredBy)).toEqual(['human', 'machine']);
  expect(call).toMatchObject({ answeredBy: 'machine', outcome: 'voicemail', status: 'completed' });
  const heard = call.answeredByEvidence!.find((each) => each.heard === 'beep')!;
  expect(heard).toMatchObject({ suggests: 'machine', confidence: 0.85 });
  expect(heard.atMs).toBeGreaterThan(2100);
  expect(heard.atMs).toBeLessThan(2700);
});

test('a long greeting alone makes no machine of anybody', async () => {
  const { call, told } = await callWho((phone) => phone.speak(Buffer.concat([voiceLike(3500), silence(800)])));
  expect(told).toEqual([]);
  expect(call).toMatchObject({ answeredBy: 'unknown', outcome: 'answered' });
});

test('the word of the agent over its stream comes before what was heard', async () => {
  const { call } = await callWho(async (phone) => {
    await phone.speak(Buffer.concat([voiceLike(1600), silence(700), beep(1000, 600), silence(100)]));
    agent.send('{"event":"trunkline","trunkline":{"event":"answered_by","answeredBy":"human"}}');
    agent.send('{"event":"trunkline","trunkline":{"event":"answered_by","answeredBy":"nobody"}}');
    const read = async () => (await calling.server.client.GET('/v1/calls', {})).data!.items[0]!;
    await until(async () => (await read()).answeredByEvidence?.some(({ heard }) => heard === 'agent') === true);
  });
  expect(call).toMatchObject({ answeredBy: 'human', outcome: 'answered' });
  expect(call.answeredByEvidence!.at(-1)).toMatchObject({ heard: 'agent', suggests: 'human', confidence: 0.95 });
});

test.each([
  ['machine', 'You have reached Maria. Please leave a message after the tone.', 'voicemail'],
  ['screening', 'If you record your name and reason for calling, I will see if this person is available.', 'answered'],
  ['menu', 'For sales, press one. For support, press two.', 'answered'],
])('%s is heard by its words, which a server writes down', async (answeredBy, text, outcome) => {
  const from = agent.messages.length;
  scribe.words = text;
  const { call } = await callWho(async (phone) => {
    await phone.speak(Buffer.concat([voiceLike(2800), silence(800)]));
    await until(() => told(from).some((each) => each.answeredBy === answeredBy));
  });
  scribe.words = '';
  expect(call).toMatchObject({ answeredBy, outcome });
  expect(call.answeredByEvidence!.find(({ heard }) => heard === 'words')).toMatchObject({ suggests: answeredBy });
  expect(scribe.asked.at(-1)).toMatchObject({ model: 'a-model', authorization: 'Bearer a key' });
  expect(scribe.asked.at(-1)!.seconds).toBeGreaterThan(1);
});

test('a server that writes nothing down harms no call', async () => {
  scribe.isBroken = true;
  const { call } = await callWho((phone) => phone.speak(Buffer.concat([voiceLike(900), silence(900)])));
  scribe.isBroken = false;
  expect(call).toMatchObject({ answeredBy: 'human', outcome: 'answered' });
});

test('a fax machine is told by its tone', async () => {
  const fax = await callWho((phone) => phone.speak(Buffer.concat([silence(200), beep(2100, 3000)])));
  expect(fax.call).toMatchObject({ answeredBy: 'fax', outcome: 'answered' });
});

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
const greetingAndBeep = Buffer.concat([voiceLike(1600), silence(700), beep(1000, 600), silence(400)]);
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

/** Says it again until it was heard: on a machine that stalls, sound is torn. */
async function untilHeard(phone: Peer, isHeard: () => boolean, sound: Buffer = greetingAndBeep): Promise<void> {
  while (!isHeard()) await phone.speak(sound);
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
  const from = agent.messages.length;
  const isMachine = () => told(from).at(-1)?.answeredBy === 'machine';
  const { call } = await callWho((phone) => untilHeard(phone, isMachine));
  expect(call).toMatchObject({ answeredBy: 'machine', outcome: 'voicemail', status: 'completed' });
  expect(call.answeredByEvidence).toContainEqual(
    expect.objectContaining({ heard: 'beep', suggests: 'machine', confidence: 0.85 }),
  );
});

test('the word of the agent over its stream comes before what was heard', async () => {
  const { call } = await callWho(async (phone) => {
    const from = agent.messages.length;
    await untilHeard(phone, () => told(from).at(-1)?.answeredBy === 'machine');
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
    const isKnown = () => told(from).some((each) => each.answeredBy === answeredBy);
    await untilHeard(phone, isKnown, Buffer.concat([voiceLike(2800), silence(800)]));
  });
  scribe.words = '';
  expect(call).toMatchObject({ answeredBy, outcome });
  expect(call.answeredByEvidence!.find(({ heard }) => heard === 'words')).toMatchObject({ suggests: answeredBy });
  expect(scribe.asked.at(-1)).toMatchObject({ model: 'a-model', authorization: 'Bearer a key' });
  expect(scribe.asked.at(-1)!.seconds).toBeGreaterThan(0.2);
});

test('a server that writes nothing down harms no call', async () => {
  scribe.isBroken = true;
  const { call } = await callWho((phone) => phone.speak(Buffer.concat([voiceLike(900), silence(900)])));
  scribe.isBroken = false;
  expect(call).toMatchObject({ answeredBy: 'human', outcome: 'answered' });
});

test('a fax machine is told by its tone', async () => {
  const from = agent.messages.length;
  const isFax = () => told(from).at(-1)?.answeredBy === 'fax';
  const fax = await callWho((phone) => untilHeard(phone, isFax, beep(2100, 3000)));
  expect(fax.call).toMatchObject({ answeredBy: 'fax', outcome: 'answered' });
});

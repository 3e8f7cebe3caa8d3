import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { campaignRow, contactsOf } from '../../dialing/dialing.ts';
import { seedList } from '../../seed/list.ts';
import { until } from '../../until.ts';
import { type BrokenAgent, startBrokenAgent, startSupervised } from '../media/broken-agents.ts';
import { tone } from '../media/tone.ts';
import { type Calling, FROM, startCalling } from './calling.ts';
import { createNetwork, hasNetworks } from './network.ts';

const CONTACTS = 200;
/** More than these are not rung for a fault that stands from the first call on. */
const MOST_RUNG = 5;
const timeout = 300_000;

const network = hasNetworks ? createNetwork(1) : undefined;
let calling: Calling;
/** Of those who answered: when, and when they were let go. */
const callees: { number: string; answeredAt: number; endedAt?: number }[] = [];
let onAnswer: (number: string) => void = () => {};
beforeAll(async () => {
  network?.showWay();
  // Asks for somebody every five seconds.
  calling = await startCalling(async (call, answer) => {
    const phone = await answer();
    const number = /^sip:([^@]*)@/.exec(call.requestUri)![1]!;
    const callee: (typeof callees)[number] = { number, answeredAt: performance.now() };
    callees.push(callee);
    onAnswer(number);
    const isOver = call.ended.then(() => {
      callee.endedAt = performance.now();
      return true;
    });
    const silence = Buffer.alloc(4600 * 8, 0xff);
    while (callee.endedAt === undefined)
      await Promise.race([isOver, phone.speak(Buffer.concat([tone(400, 3200), silence]))]);
  }, network?.far[0]);
});
afterAll(async () => {
  await calling[Symbol.asyncDispose]();
  network?.remove();
});

/** Runs a campaign of 200 contacts through an agent until it has paused itself. @returns its calls, and who was rung */
async function paused(agent: BrokenAgent, prefix: string) {
  const { client, database } = calling.server;
  const { rows } = await database.inEngine(({ db }) => sql<{ id: string }>`select id from workspaces`.execute(db));
  const numbers = Array.from({ length: CONTACTS }, (_, at) => `${prefix}${String(at).padStart(4, '0')}`);
  const people = numbers.map((number) => ({ phone_number: Number(number.slice(1)) }));
  const list = toId('list', await seedList(database, rows[0]!.id, people));
  const body = {
    ...{ name: prefix, agentId: await calling.agentAt(agent.url), fromNumber: FROM, maxConcurrency: 20 },
    ...{ lists: [{ id: list, role: 'contacts' as const }], retryPolicy: [1, 1, 1] },
  };
  const { id } = (await client.POST('/v1/calls/campaigns', { body })).data!.data;
  // Without the word of somebody who knows better, the start's own test refuses it.
  const params = { path: { id }, query: { force: true } };
  expect((await client.POST('/v1/calls/campaigns/{id}/start', { params })).error).toBeUndefined();
  const campaign = () => campaignRow(database, fromId(id));
  await until(async () => (await campaign()).status === 'paused' && (await campaign()).in_flight === 0, 200);
  expect(await campaign()).toMatchObject({ pause_reason: 'agent_failing', answered: 0 });
  const rung = callees.filter(({ number }) => number.startsWith(prefix));
  expect(rung.length).toBeGreaterThan(0);
  expect(rung.length).toBeLessThanOrEqual(MOST_RUNG);
  const rest = (await contactsOf(database, fromId(id))).filter(({ state }) => state !== 'done');
  expect(rest.length).toBeGreaterThanOrEqual(CONTACTS - rung.length);
  const { data } = await client.GET('/v1/calls', { params: { query: { campaignId: id, perPage: 100 } } });
  await until(() => rung.every(({ endedAt }) => endedAt !== undefined));
  const deadSeconds = Math.max(...rung.map(({ endedAt, answeredAt }) => (endedAt! - answeredAt) / 1000));
  const reasons = new Set(data!.items.filter(({ answeredAt }) => answeredAt).map(({ agentEnd }) => agentEnd!.reason));
  return { deadSeconds, reasons: [...reasons] };
}

test.concurrent('a key that is refused behind a live connection', { timeout }, async () => {
  await using agent = await startBrokenAgent('key_refused');
  const { deadSeconds, reasons } = await paused(agent, '+1415555');
  expect(reasons).toEqual(['crashed']);
  expect(deadSeconds).toBeLessThan(5);
});

test.concurrent('a crash after 300 ms, of an agent that is started again', { timeout }, async () => {
  await using agent = await startSupervised('crashes');
  const { deadSeconds, reasons } = await paused(agent, '+1212555');
  for (const reason of reasons) expect(['crashed', 'refused']).toContain(reason);
  expect(deadSeconds).toBeLessThan(5);
});

test.concurrent('a process that is stopped', { timeout }, async () => {
  await using agent = await startBrokenAgent('freezes');
  const { deadSeconds, reasons } = await paused(agent, '+1310555');
  expect(reasons).toContain('frozen');
  for (const reason of reasons) expect(['frozen', 'timed_out']).toContain(reason);
  expect(deadSeconds).toBeLessThan(11);
});

test.concurrent('an agent that never makes a sound', { timeout }, async () => {
  await using agent = await startBrokenAgent('mute');
  const { deadSeconds, reasons } = await paused(agent, '+1617555');
  expect(reasons).toEqual(['mute']);
  expect(deadSeconds).toBeGreaterThan(29);
  expect(deadSeconds).toBeLessThan(33);
});

describe.skipIf(!network)('a cut cable, which needs networks of its own', () => {
  test.concurrent('an agent whose cable is cut at the first answer', { timeout }, async () => {
    await using agent = await startBrokenAgent('mute', { program: network!.behind, host: network!.far[0]! });
    let isCut = false;
    onAnswer = (number) => {
      if (isCut || !number.startsWith('+1503555')) return;
      isCut = true;
      setTimeout(() => network!.filter('-I', 'FORWARD', '-j', 'DROP'), 500);
    };
    const { deadSeconds, reasons } = await paused(agent, '+1503555');
    expect(reasons).toContain('vanished');
    for (const reason of reasons) expect(['vanished', 'timed_out']).toContain(reason);
    expect(deadSeconds).toBeLessThan(11);
  });
});

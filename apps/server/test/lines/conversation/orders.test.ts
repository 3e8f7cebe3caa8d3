import { beforeAll, expect, test } from 'vitest';
import { decide, type Standing } from '../../../src/lines/conversation/decide.ts';
import { type Mode, type Modes, modes } from '../../../src/lines/conversation/modes.ts';
import { type AgentEndReason, agentEndReasons } from '../../../src/lines/media/agent-end.ts';
import type { CallEvent } from '../../../src/lines/telephony/call-gateway.ts';
import { statuses } from './far-side.ts';
import { type Cause, type Order, runOrder } from './order.ts';

const ORDERS = 10_000;
let orders: Order[];
beforeAll(async () => {
  orders = [];
  for (let seed = 1; seed <= ORDERS; seed += 1) orders.push(await runOrder(seed));
});

/** The seeds and stories of orders that something is wrong with. */
const wrong = (isWrong: (order: Order) => boolean) =>
  orders.flatMap((order, index) => (isWrong(order) ? [`${index + 1}: ${order.story.join(', ')}`] : [])).slice(0, 3);

const endOf = ({ events }: Order) => events.find(({ type }) => type === 'ended');

test('each call is told one end, or whoever placed it hears once that it was not placed', () => {
  expect(wrong(({ ends }) => ends.length !== 1)).toEqual([]);
  const told = (order: Order) => order.events.filter(({ type }) => type === 'ended').length;
  expect(wrong((order) => told(order) !== (order.ends[0] ? 1 : 0))).toEqual([]);
  const taken = ({ ends, result }: Order) =>
    ends[0] ? result === 'failed' || result?.status === 'accepted' : result !== undefined;
  expect(wrong((order) => !taken(order))).toEqual([]);
  expect(wrong(({ ends, result }) => !ends[0] && typeof result === 'object' && result.status === 'accepted')).toEqual(
    [],
  );
  expect(wrong(({ ends, events }) => !ends[0] && events.length > 0)).toEqual([]);
});

test('it rings before it is answered, and both before it ends, each once', () => {
  const steps = ({ events }: Order) => events.map(({ type }) => type).join(' ');
  expect(wrong((order) => !/^(ringing )?(answered (agent_heard )?)?(ended)?$/.test(steps(order)))).toEqual([]);
  expect(new Set(orders.map(steps)).size).toBe(7);
  expect(wrong((order) => order.farSide.wasAnswered() !== steps(order).includes('answered'))).toEqual([]);
});

test('an agent is told to be heard in a call in which it was, and in no other', () => {
  const told = ({ events }: Order) => events.filter(({ type }) => type === 'agent_heard').length;
  expect(wrong((order) => told(order) !== order.counts.heard)).toEqual([]);
  expect(orders.filter(told).length).toBeGreaterThan(500);
});

test('whatever it is to end for, its leg is asked to end at once', () => {
  expect(wrong(({ isNeglected }) => isNeglected)).toEqual([]);
});

test('the voice is told of each key that is pressed before the end is asked for', () => {
  expect(wrong(({ counts }) => counts.passedOn !== counts.pressed)).toEqual([]);
  expect(orders.filter(({ counts }) => counts.pressed > 0).length).toBeGreaterThan(500);
});

test('no socket, stream, timer or row is left', () => {
  const none = { sockets: 0, streams: 0, timers: 0, rows: 0 };
  expect(wrong(({ open }) => JSON.stringify(open) !== JSON.stringify(none))).toEqual([]);
});

/** What we end a call for, as its outcome and who ended it: before the answer, and after it. */
const meanings: Record<Cause, [before: string, after: string]> = {
  asked: ['cancelled service', 'answered service'],
  limit: ['none', 'answered time_limit'],
  agent: ['agent_error error', 'agent_error error'],
  agent_hung_up: ['agent_error error', 'answered agent'],
  agent_lost: ['agent_error error', 'answered error'],
  agent_silent: ['none', 'answered service'],
  media: ['agent_error error', 'answered error'],
  silent: ['none', 'answered error'],
  far_unusable: ['trunk_error error', 'trunk_error error'],
  not_ours: ['agent_error error', 'none'],
  given_up: ['trunk_error error', 'none'],
};

/** What an order ought to come to: by what the far side said, or else by why we have ended it. */
function meaningOf({ far, farSide, cause }: Order): string {
  const end = farSide.ended() ?? { kind: 'not_sent' as const, why: 'cancelled' as const };
  const isOfAnswered = cause?.wasAnswered || (cause?.why === 'asked' && ['hung_up', 'lost'].includes(end.kind));
  const unasked = end.kind === 'hung_up' ? 'answered service' : 'cancelled service';
  const ours = cause ? meanings[cause.why][isOfAnswered ? 1 : 0] : unasked;
  if (end.kind === 'silence') return 'unknown error';
  if (end.kind === 'lost') return `${cause ? ours.split(' ')[0] : 'answered'} error`;
  if ('by' in end && end.by === 'ring_timeout') return 'no_answer service';
  if ('by' in end && end.by === 'far') return `${end.kind === 'hung_up' ? 'answered' : 'cancelled'} ${far}`;
  if (end.kind === 'not_sent' && end.why === 'fault') return 'trunk_error error';
  if (end.kind === 'not_sent' && end.why === 'not_kept') return 'unknown error';
  if (end.kind === 'rejected' && far === 'caller') return cause ? ours : 'agent_error error';
  if (end.kind !== 'rejected') return ours;
  const outcome = statuses[end.sipStatus as keyof typeof statuses];
  return `${outcome} ${outcome === 'trunk_error' ? 'error' : 'callee'}`;
}

/** How the agent of an order ended: as it did before the call, or as the call did; or mute, if a far side that spoke has hung up. */
function agentReasonOf(order: Order): AgentEndReason | undefined {
  const { cause, isAsked, stats, farSide, events } = order;
  if (!isAsked) return undefined;
  const reason = cause?.reason ?? stats?.voiceEnd?.reason ?? 'call_ended';
  const legEnd = farSide.ended();
  const at = (type: CallEvent['type']) => events.find((event) => event.type === type)?.at.getTime() ?? Number.NaN;
  const isMute =
    reason === 'call_ended' &&
    legEnd?.kind === 'hung_up' &&
    legEnd.by === 'far' &&
    stats?.calleeSpoke &&
    stats.firstSoundMs === undefined &&
    at('ended') - at('answered') >= 5000;
  return isMute ? 'mute' : reason;
}

/** An answered call whose agent broke off unheard was answered by nobody. */
function withAgent(order: Order, meaning: string): string {
  const reason = agentReasonOf(order);
  const isAtFault = reason && !['call_ended', 'silence', 'media_lost'].includes(reason);
  return isAtFault && order.stats?.firstSoundMs === undefined ? meaning.replace('answered', 'agent_error') : meaning;
}

test('each end tells what the agent did', () => {
  const differs = orders.flatMap((order, index) => {
    const end = endOf(order);
    if (end?.type !== 'ended') return [];
    const expected = agentReasonOf(order);
    const { agentEnd } = end;
    const isRight = agentEnd?.reason === expected && agentEnd?.firstSoundMs === (expected && order.stats?.firstSoundMs);
    return isRight ? [] : [`${index + 1}: ${JSON.stringify(agentEnd)}, not ${expected}: ${order.story.join(', ')}`];
  });
  expect(differs.slice(0, 5)).toEqual([]);
  expect(new Set(orders.map(agentReasonOf))).toEqual(new Set([undefined, ...agentEndReasons]));
});

test('each end has the outcome, and the one who ended it, that its story says', () => {
  const said = (order: Order) => {
    const end = endOf(order);
    return end?.type === 'ended' ? `${end.outcome} ${end.endedBy}` : undefined;
  };
  const differs = orders.flatMap((order, index) => {
    const found = said(order);
    const expected = withAgent(order, meaningOf(order));
    return found === undefined || found === expected
      ? []
      : [`${index + 1}: ${found}, not ${expected} (${order.far}): ${order.story.join(', ')}`];
  });
  expect(differs.slice(0, 5)).toEqual([]);
  expect(new Set(orders.map(said)).size).toBeGreaterThan(15);
});

test('nobody answers to silence: without an agent a phone that rings is cancelled, and never taken', () => {
  const gone = orders.filter(
    ({ far, cause }) => far === 'callee' && cause?.why.startsWith('agent') && !cause.wasAnswered,
  );
  expect(gone.length).toBeGreaterThan(100);
  expect(gone.filter(({ farSide }) => farSide.wasAnswered())).toEqual([]);
});

/** The moves of an order, of a table. @throws if the table doesn't know one */
function movesOf({ far, joinsAt, inputs }: Order, table: Modes = modes): string[] {
  let standing: Standing = { mode: far === 'callee' ? 'opening' : 'arriving', times: {} };
  const moves: string[] = [];
  for (const input of inputs) {
    const from = standing.mode;
    ({ standing } = decide(standing, input, { setting: { far, joinsAt }, at: new Date(0), table }));
    if (standing.mode !== from) moves.push(`${from} ${standing.mode}`);
  }
  return moves;
}

test('every move is in the table, and made by an order; without any entry of the table that order fails', () => {
  const madeBy = new Map<string, Order>();
  for (const order of orders) for (const move of movesOf(order)) if (!madeBy.has(move)) madeBy.set(move, order);
  const entries = Object.entries(modes).flatMap(([from, tos]) => tos.map((to) => [from, to] as const));
  expect([...madeBy.keys()].sort()).toEqual(entries.map(([from, to]) => `${from} ${to}`).sort());
  for (const [from, to] of entries) {
    const table = { ...modes, [from]: modes[from as Mode].filter((each) => each !== to) };
    expect(() => movesOf(madeBy.get(`${from} ${to}`)!, table)).toThrow(`from ${from} to ${to}`);
  }
});

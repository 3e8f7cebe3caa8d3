import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import type { CallEvent, PlaceResult } from '../../../src/lines/telephony/call-gateway.ts';
import { chances } from '../../chances.ts';
import { until } from '../../until.ts';
import { startAgent } from '../media/agent.ts';
import { tone } from '../media/tone.ts';
import { startCarrier } from './carrier.ts';
import { byItself, openSipGateways, trunkTo } from './sip-gateways.ts';

const ORDERS = 400;
const AT_ONCE = 20;
/** Of RTP. At the end so many calls ring at once, so that one that is left is missed. */
const PORTS = 160;
/** After a call its ports rest for five seconds. */
const REST_MS = 5500;
const LATEST_MS = 1500;

const agentKinds = ['talks', 'leaves', 'crashes', 'refuses', 'mute'] as const;
const answers = ['answers', 'rejects', 'rings'] as const;

interface Planned {
  roomId: string;
  to: string;
  connectAt: 'ringing' | 'answered';
  agent: (typeof agentKinds)[number];
  callee: (typeof answers)[number];
  /** When the agent goes, the phone is picked up, hung up, and the call is asked to end. */
  at: { agent: number; callee: number; hangUp: number; end: number | undefined };
}

function plan(seed: number): Planned {
  const random = chances(seed);
  for (let skipped = 0; skipped < 5; skipped += 1) random();
  const one = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)]!;
  const ms = () => Math.floor(random() * LATEST_MS);
  return {
    roomId: newUuid(),
    to: `+1415555${String(1000 + seed).slice(-4)}`,
    connectAt: one(['ringing', 'answered']),
    agent: one(agentKinds),
    callee: one(answers),
    at: { agent: ms(), callee: ms(), hangUp: ms(), end: random() < 0.4 ? ms() : undefined },
  };
}

test(`${ORDERS} calls over SIP, to whom everything happens by chance, each end once, and leave nothing behind`, async () => {
  const gateways = await openSipGateways();
  const byNumber = new Map<string, Planned>();
  const answered = new Set<string>();
  const carrier = await startCarrier((user) => async (call, answer) => {
    const planned = byNumber.get(user)!;
    call.ring();
    await sleep(planned.at.callee);
    if (planned.callee === 'rejects') return call.reject(486);
    if (planned.callee === 'rings') return;
    const phone = await answer().catch(() => undefined);
    if (!phone) return;
    await sleep(planned.at.hangUp);
    await call.hangUp();
  });
  const byCall = new Map<string, Planned>();
  const agent = await startAgent((socket: WebSocket) => {
    const planned = byCall.get(String(agent.headers.at(-1)!['x-trunkline-call-id']))!;
    if (planned.agent === 'leaves') setTimeout(() => socket.close(1000), planned.at.agent);
    if (planned.agent === 'crashes') setTimeout(() => socket.terminate(), planned.at.agent);
    if (planned.agent === 'talks') {
      const payload = tone(1000, 8000).toString('base64');
      socket.send(JSON.stringify({ event: 'media', media: { payload } }));
    }
  });
  const gateway = await gateways.gatewayFor(PORTS, {
    resolveAgent: async (agentId) => {
      const { agent: kind, connectAt } = byCall.get(agentId)!;
      const url = kind === 'refuses' ? 'ws://127.0.0.1:1/' : agent.url;
      return {
        connection: { type: 'stream', url, headers: {}, connectAt, connectTimeoutSeconds: 2, reconnect: false },
      };
    },
  });
  const told = new Map<string, CallEvent[]>();
  gateway.onEvents((events) => {
    for (const event of events) {
      told.set(event.roomId, [...(told.get(event.roomId) ?? []), event]);
      if (event.type === 'answered') answered.add(event.roomId);
    }
  });
  await gateway.start();
  const isOver = (roomId: string) => told.get(roomId)?.some(({ type }) => type === 'ended') === true;
  const trunk = trunkTo(carrier.port);
  const workspaceId = newUuid();
  const results = new Map<string, PlaceResult>();

  async function run(planned: Planned): Promise<void> {
    const { roomId, to, at } = planned;
    byNumber.set(to, planned);
    byCall.set(toId('room', roomId), planned);
    const call = { workspaceId, roomId, attempt: 1, from: '+14155550100', to };
    if (at.end !== undefined)
      setTimeout(() => void gateway.endCall({ ...call, placedAt: new Date() }).catch(() => {}), at.end);
    const limits = { ringTimeoutSeconds: 2, maxCallSeconds: 2, recording: false, owner: byItself };
    results.set(roomId, await gateway.placeCall({ ...call, ...limits, agentId: toId('room', roomId), trunk }));
    if (results.get(roomId)!.status === 'accepted') await until(() => isOver(roomId));
  }

  const all = Array.from({ length: ORDERS }, (_, index) => plan(index + 1));
  const waiting = [...all];
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) await run(next);
  });
  await Promise.all(workers);

  for (const planned of all) {
    const { roomId, callee, agent: kind } = planned;
    const result = results.get(roomId)!;
    const steps = (told.get(roomId) ?? []).map(({ type }) => type).join(' ');
    const end = told.get(roomId)?.find(({ type }) => type === 'ended');
    const story = JSON.stringify({ planned, result, end });
    if (result.status !== 'accepted') {
      // It was asked to end before it was dialled, by one who asked for it that early.
      expect([result.status, steps, planned.at.end !== undefined], story).toEqual(['rejected', '', true]);
      continue;
    }
    expect(steps, story).toMatch(/^(ringing )?(answered )?ended$/);
    if (end?.type !== 'ended') throw new Error(story);
    const { outcome, agentEnd } = end;
    if (!answered.has(roomId)) expect(['busy', 'no_answer', 'cancelled', 'agent_error'], story).toContain(outcome);
    else if (kind === 'talks') expect(outcome, story).toBe('answered');
    else expect(['answered', 'agent_error'], story).toContain(outcome);
    if (kind === 'refuses' && answered.has(roomId)) expect(outcome, story).toBe('agent_error');
    if (kind === 'refuses' && planned.connectAt === 'ringing') expect(answered.has(roomId), story).toBe(false);
    if (callee !== 'answers') expect(answered.has(roomId), story).toBe(false);
    if (agentEnd?.firstSoundMs !== undefined) expect(outcome, story).toBe('answered');
    const reasons = { talks: [], mute: ['mute'], leaves: ['hung_up'], crashes: ['crashed'], refuses: ['refused'] };
    if (agentEnd) expect(['call_ended', ...reasons[kind]], story).toContain(agentEnd.reason);
  }
  const outcomes = new Set([...told.values()].flat().map((event) => (event.type === 'ended' ? event.outcome : '')));
  expect([...outcomes].sort()).toEqual(['', 'agent_error', 'answered', 'busy', 'cancelled', 'no_answer']);

  // Every port is free again: as many calls as there are ports ring at once.
  const last = Array.from({ length: PORTS }, (_, index) => ({
    ...plan(ORDERS + index + 1),
    ...({ agent: 'talks', callee: 'rings', connectAt: 'answered' } as const),
    at: { agent: 0, callee: 0, hangUp: 0, end: undefined },
  }));
  await sleep(REST_MS);
  await Promise.all(last.map(run));
  expect(last.map(({ roomId }) => results.get(roomId)!.status)).toEqual(last.map(() => 'accepted'));
  await gateway.stop();
  const { rows } = await gateways.database.inEngine(({ db }) =>
    sql<{ left: string }>`select room_id as left from sip_calls where ended_at is null`.execute(db),
  );
  expect(rows).toEqual([]);
  expect(carrier.userAgent.counts().calls).toBe(0);
  await agent.stop();
  await carrier.stop();
  await gateways.close();
}, 600_000);

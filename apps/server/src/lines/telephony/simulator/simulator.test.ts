import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../../test/lines/telephony/memory-store.ts';
import { testClock } from '../../../../test/test-clock.ts';
import { newUuid } from '../../../foundation/values/ids.ts';
import type { CallEvent, CallRequest } from '../call-gateway.ts';
import { createSimulator } from './simulator.ts';

const request = (to: string, roomId = newUuid()): CallRequest => ({
  workspaceId: newUuid(),
  roomId,
  attempt: 1,
  to,
  from: '+14155550200',
  agentId: 'agent',
  ringTimeoutSeconds: 30,
  maxCallSeconds: 600,
  recording: false,
  owner: { kind: 'intent', id: newUuid() },
});
const reference = (call: CallRequest) => ({ ...call, placedAt: new Date(0) });

/** A simulator on a stepped clock, and what its listener has heard. */
async function started(options: { speed?: number; store?: ReturnType<typeof memoryStore> } = {}) {
  const time = testClock('2026-03-01T12:00:00Z', { stands: true });
  const store = options.store ?? memoryStore();
  const make = () => createSimulator({ seed: 'seed', speed: options.speed ?? 1, store, time });
  const simulator = make();
  const sets: CallEvent[][] = [];
  simulator.onEvents((events) => sets.push(events));
  await simulator.start();
  return { simulator, make, time, store, sets, types: () => sets.flat().map(({ type }) => type) };
}

describe('a simulated call', () => {
  test('has its events at their times, and none before', async () => {
    const { simulator, time, types } = await started();
    expect(await simulator.placeCall(request('+14155550100'))).toEqual({ status: 'accepted' });
    time.advance(100);
    expect(types()).toEqual([]);
    time.advance(1_700);
    expect(types()).toEqual(['ringing']);
    time.advance(60_000);
    expect(types()).toEqual(['ringing', 'answered', 'ended']);
    expect(simulator.liveCalls()).toBe(0);
  });

  test('lasts no time at endless speed, and its events come in one set', async () => {
    const { simulator, time, sets } = await started({ speed: Number.POSITIVE_INFINITY });
    await Promise.all(Array.from({ length: 100 }, () => simulator.placeCall(request('+14155550100'))));
    time.advance(0);
    expect(sets).toHaveLength(1);
    expect(sets[0]).toHaveLength(300);
  });

  test('writes no row for an end that its plan already holds', async () => {
    const { simulator, time, store } = await started();
    const call = request('+14155550101');
    await simulator.placeCall(call);
    time.advance(600_000);
    expect(store.calls.get(call.roomId)?.ended).toBeUndefined();
    expect(await simulator.lookup(reference(call))).toMatchObject({ state: 'ended', outcome: 'answered' });
  });

  test('placed twice counts two placements and rings once', async () => {
    const { simulator, time, store, types } = await started();
    const call = request('+14155550100');
    const [first, second] = await Promise.all([simulator.placeCall(call), simulator.placeCall(call)]);
    expect([first.status, second.status]).toEqual(['accepted', 'accepted']);
    await simulator.placeCall(call);
    time.advance(600_000);
    expect(store.calls.get(call.roomId)?.placements).toBe(3);
    expect(types()).toEqual(['ringing', 'answered', 'ended']);
  });

  test('a store that fails makes it unknown, and its lookup undetermined', async () => {
    const store = memoryStore();
    const broken = async () => {
      throw new Error('connection lost');
    };
    const { simulator } = await started({ store: { ...store, insert: broken, find: broken } });
    const call = request('+14155550100');
    expect(await simulator.placeCall(call)).toMatchObject({ status: 'unknown' });
    expect(await simulator.lookup(reference(call))).toMatchObject({ state: 'undetermined' });
  });

  test('goes on after an end that could not be written', async () => {
    const store = memoryStore();
    const failing = async () => {
      throw new Error('connection lost');
    };
    const { simulator, time, types } = await started({ store: { ...store, end: failing } });
    const call = request('+14155550100');
    await simulator.placeCall(call);
    time.advance(1_800);
    await expect(simulator.endCall(reference(call))).rejects.toThrow('connection lost');
    time.advance(60_000);
    expect(types()).toEqual(['ringing', 'answered', 'ended']);
  });
});

test('a call that was ended has no planned event any more', async () => {
  const { simulator, time, types } = await started();
  const call = request('+14155550100');
  await simulator.placeCall(call);
  time.advance(1_800);
  expect(await simulator.endCall(reference(call))).toBe('ending');
  expect(simulator.liveCalls()).toBe(0);
  time.advance(600_000);
  expect(types()).toEqual(['ringing', 'ended']);
});

test('stop forgets the calls and the late events', async () => {
  const { simulator, time, types } = await started();
  simulator.faults.delayEvent = ({ type }) => (type === 'ringing' ? 5_000 : 0);
  await simulator.placeCall(request('+14155550108'));
  time.advance(1_800);
  await simulator.stop();
  expect(simulator.liveCalls()).toBe(0);
  await simulator.start();
  time.advance(600_000);
  expect(types()).toEqual([]);
});

describe('a second process on the same store', () => {
  test('tells the state of a call that it does not hold, and follows it from then on', async () => {
    const { simulator, make, time } = await started();
    const call = request('+14155550100');
    await simulator.placeCall(call);
    time.advance(1_800);
    await simulator.stop();

    const successor = make();
    const heard: string[] = [];
    successor.onEvents((events) => heard.push(...events.map(({ type }) => type)));
    await successor.start();
    expect(await successor.lookup(reference(call))).toMatchObject({ state: 'live', phase: 'ringing' });
    time.advance(60_000);
    expect(heard).toEqual(['answered', 'ended']);
    await successor.stop();
  });

  test('hangs up a call of the first one', async () => {
    const { simulator, make, time } = await started();
    const call = request('+14155550102');
    await simulator.placeCall(call);
    time.advance(30_000);
    const other = make();
    await other.start();
    expect(await other.endCall(reference(call))).toBe('ending');
    expect(await simulator.lookup(reference(call))).toMatchObject({ state: 'ended', endedBy: 'service' });
    expect(await simulator.endCall(reference(call))).toBe('already_ended');
    await other.stop();
  });
});

describe('faults', () => {
  test('a lost answer leaves a call that rings; a lost request leaves none', async () => {
    const { simulator, time, types } = await started();
    const placed = request('+14155550100');
    const lost = request('+14155550100');
    simulator.faults.loseAnswer = ({ roomId }) => roomId === placed.roomId;
    simulator.faults.loseRequest = ({ roomId }) => roomId === lost.roomId;
    expect(await simulator.placeCall(placed)).toMatchObject({ status: 'unknown' });
    expect(await simulator.placeCall(lost)).toMatchObject({ status: 'unknown' });
    expect(await simulator.lookup(reference(placed))).toMatchObject({ state: 'live' });
    expect(await simulator.lookup(reference(lost))).toEqual({ state: 'absent' });
    time.advance(60_000);
    expect(types()).toEqual(['ringing', 'answered', 'ended']);
  });

  test('events are lost, doubled, late and out of order', async () => {
    const { simulator, time, types } = await started();
    simulator.faults.loseEvent = ({ type }) => type === 'answered';
    simulator.faults.duplicateEvent = ({ type }) => type === 'ended';
    simulator.faults.delayEvent = ({ type }) => (type === 'ringing' ? 120_000 : 0);
    await simulator.placeCall(request('+14155550100'));
    time.advance(119_000);
    expect(types()).toEqual(['ended', 'ended']);
    time.advance(10_000);
    expect(types()).toEqual(['ended', 'ended', 'ringing']);
  });
});

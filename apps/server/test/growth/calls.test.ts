import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import type { HeldCall } from '../../src/dialing/calls/call.ts';
import { type CallToPlace, createCallPlacer } from '../../src/dialing/calls/place-calls.ts';
import { createCallRecorder } from '../../src/dialing/calls/record-call-events.ts';
import { createSwitchboard } from '../../src/dialing/calls/switchboard.ts';
import { ServiceError } from '../../src/foundation/values/service-error.ts';
import { expectNoGrowth } from './cost-of-one.ts';

const log = pino({ level: 'silent' });
const now = new Date();

test('to place a call costs the same however many wait for their time', () =>
  expectNoGrowth((others) => {
    let placed = () => {};
    const placer = createCallPlacer({
      log,
      clock: { now: () => now },
      lease: { isHeld: () => true },
      guard: { mayPlace: async () => false, mayJudge: async () => true, doubt: () => {} },
      trunksToCall: async () => new Map(),
      giveBack: async () => placed(),
    } as unknown as Parameters<typeof createCallPlacer>[0]);
    const callIn = (ms: number) => ({ startAt: new Date(now.getTime() + ms), placeBefore: now }) as CallToPlace;
    for (let each = 0; each < others; each += 1) placer.add([callIn(3600_000 + ((each * 7919) % others))]);
    return (items) => {
      const isOver = new Promise<void>((resolve) => (placed = resolve));
      for (let item = 0; item < items; item += 1) placer.add([callIn(0)]);
      return isOver;
    };
  }));

test('a call is held and let go at the same cost however many others are held', () =>
  expectNoGrowth((others) => {
    let letGo = () => {};
    const switchboard = createSwitchboard({
      log,
      maxCalls: 100_000,
      registry: new Registry(),
      clock: { now: () => now },
      lease: { isHeld: () => true, serverId: () => 'server' },
      guard: { mayPlace: async () => false, mayJudge: async () => true, doubt: () => {} },
      gateways: new Map(),
      owners: [],
      calls: {},
      trunksToCall: async () => new Map(),
      database: { inEngine: async () => letGo(), inHotLoop: async () => letGo() },
    } as unknown as Parameters<typeof createSwitchboard>[0]);
    let rooms = 0;
    const callIn = (ms: number) => {
      rooms += 1;
      const startAt = new Date(now.getTime() + ms);
      return { roomId: `room ${rooms}`, workspaceId: `workspace ${rooms % 10}`, startAt, placeBefore: now };
    };
    const place = (ms: number) => switchboard.place([callIn(ms) as unknown as CallToPlace]);
    for (let each = 0; each < others; each += 1) place(3600_000 + ((each * 7919) % others));
    return (items) => {
      const isOver = new Promise<void>((resolve) => (letGo = resolve));
      for (let item = 0; item < items; item += 1) {
        place(0);
        switchboard.free(`workspace ${item % 10}`);
      }
      return isOver;
    };
  }));

/** The events of a set. */
const WRITTEN_AT_ONCE = 500;

/** Writes the events of calls, whatever these are, and counts how often it looks for one. */
function recorderOf(write: () => Promise<unknown>) {
  let looks = 0;
  const callOf = (roomId: string) => {
    looks += 1;
    return { roomId } as HeldCall;
  };
  const database = {
    inHotLoop: async () => {
      await write();
      return { ended: [], failing: [] };
    },
  };
  const options = { database, callOf, log, clock: { now: () => now }, onWritten: () => {} };
  const recorder = createCallRecorder(options as unknown as Parameters<typeof createCallRecorder>[0]);
  return {
    looks: () => looks,
    record: (roomId: string) => recorder.record([{ roomId, at: now, type: 'ringing' }]),
    recorder,
  };
}

test('an event that waits to be written waits once, however often others could not be', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const { record, recorder, looks } = recorderOf(
    () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })),
  );
  try {
    for (let room = 0; room < 2000; room += 1) record(`room ${room}`);
    for (let failed = 0; failed < 3; failed += 1) {
      await vi.waitFor(() => expect(ends).toHaveLength(failed + 1), { timeout: 60_000 });
      ends[failed]!.reject(new ServiceError('unavailable', 'The database is away.'));
      await vi.waitFor(() => expect(ends).toHaveLength(failed + 2), { timeout: 60_000 });
      vi.advanceTimersByTime(500);
    }
    for (let written = 3; written < 7; written += 1) {
      await vi.waitFor(() => expect(ends).toHaveLength(written + 1), { timeout: 60_000 });
      ends[written]!.resolve();
    }
    await recorder.idle();
    // One as each is told, and one for each in seven sets.
    expect(looks()).toBe(2000 + 7 * WRITTEN_AT_ONCE);
  } finally {
    vi.useRealTimers();
  }
});

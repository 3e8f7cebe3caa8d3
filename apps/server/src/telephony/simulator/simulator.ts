import { randomUUID } from 'node:crypto';
import { coalesce } from '../../coalesce.ts';
import type {
  CallEvent,
  CallEventListener,
  CallReference,
  CallRequest,
  CallState,
  InboundAnswer,
  InboundCall,
  PlaceResult,
  TelephonyGateway,
} from '../gateway.ts';
import { createDelivery } from './delivery.ts';
import type { Faults } from './faults.ts';
import { buyFromInventory, findInInventory, searchInventory } from './inventory.ts';
import {
  CALLS_BACK_AFTER,
  callsBack,
  defaultProfile,
  INBOUND,
  type PlannedCall,
  type Profile,
  planCall,
  sipStatusOf,
} from './plan.ts';
import { eventsOf, type StoredCall, type StoredEnd, stateOf } from './progress.ts';
import type { SimulatorStore } from './store.ts';
import { realTime, type SimulatorTime } from './time.ts';
import { createTimeline } from './timeline.ts';
import { probeSimulatedTrunk } from './trunks.ts';

export interface SimulatorOptions {
  /** Together with number and attempt it decides every call. */
  seed: string;
  /** Divides ring and talk time: 1 is real time, `Infinity` ends every call at once. */
  speed: number;
  store: SimulatorStore;
  time?: SimulatorTime;
  profile?: Profile;
}

export interface Simulator extends TelephonyGateway {
  /** To be set by tests; empty at first. */
  readonly faults: Faults;
  /** How many calls this process follows. */
  liveCalls(): number;
  /** Has a call arrive in this process, at one of our numbers. */
  ring(numbers: Pick<InboundCall, 'to' | 'from'>): void;
}

/** A call that this process follows: the events that are still to come. */
interface FollowedCall {
  call: StoredCall;
  events: CallEvent[];
  /** Index of the next event. */
  next: number;
}

/**
 * How long a call may be on its way, in milliseconds. A process that was frozen meanwhile must not place it any more: it
 * may have been looked up, found absent and placed by another.
 */
const LATEST_MS = 2_000;
/** The most rows of one statement. */
const atMost = 1_000;

/** A telephony provider whose every call is decided in advance. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { seed, speed, store, time = realTime, profile = defaultProfile } = options;
  const faults: Faults = {};
  const followed = new Map<string, FollowedCall>();
  const delivery = createDelivery(time, faults);
  let running = false;

  const planOf = (call: PlannedCall) => planCall(seed, call, profile);
  const progressOf = (call: StoredCall, now: Date) => stateOf(call, planOf(call), speed, now);

  const insert = coalesce(
    async (calls: StoredCall[]) => {
      const rooms = new Map<string, StoredCall>();
      for (const call of calls) {
        const twin = rooms.get(call.roomId);
        rooms.set(call.roomId, twin ? { ...twin, placements: twin.placements + 1 } : call);
      }
      const oldest = Math.min(...calls.map(({ placedAt }) => placedAt.getTime()));
      const added = await store.insert([...rooms.values()], () => time.now().getTime() > oldest + LATEST_MS);
      // The first of two equal rooms is the new one.
      return calls.map(({ roomId }) => added.delete(roomId));
    },
    { atMost },
  );
  const find = coalesce(
    async (roomIds: string[]) => {
      const calls = await store.find([...new Set(roomIds)]);
      return roomIds.map((roomId) => calls.get(roomId));
    },
    { atMost },
  );
  const end = coalesce(
    async (ends: ({ roomId: string } & StoredEnd)[]) => {
      const rooms = new Map(ends.map((one) => [one.roomId, one]));
      const ended = await store.end([...rooms.values()]);
      return ends.map(({ roomId }) => ended.delete(roomId));
    },
    { atMost },
  );

  const timeline = createTimeline<FollowedCall>(time, (due) => {
    const now = time.now();
    const happened: CallEvent[] = [];
    for (const one of due) {
      const { roomId } = one.call;
      if (followed.get(roomId) !== one) continue;
      for (let event = one.events[one.next]; event && event.at <= now; event = one.events[one.next]) {
        happened.push(event);
        one.next += 1;
      }
      const next = one.events[one.next];
      if (next) timeline.add(next.at.getTime(), one);
      else followed.delete(roomId);
    }
    delivery.deliver(happened);
  });

  /** Has the call's events from now on come to this process; those before `since` are known. */
  const follow = (call: StoredCall, since?: Date) => {
    if (!running || followed.has(call.roomId)) return;
    const all = eventsOf(call.roomId, call.placedAt, planOf(call), speed);
    const events = since ? all.filter(({ at }) => at > since) : all;
    const first = events[0];
    if (!first) return;
    const one = { call, events, next: 0 };
    followed.set(call.roomId, one);
    timeline.add(first.at.getTime(), one);
  };

  const placeCall = async (request: CallRequest): Promise<PlaceResult> => {
    if (!running) return { status: 'rejected', outcome: 'trunk_error', detail: 'the simulator is stopped' };
    if (faults.loseRequest?.(request)) return { status: 'unknown', detail: 'simulated: the request was lost' };
    const { outcome } = planOf(request);
    if (outcome === 'trunk_error') {
      return { status: 'rejected', outcome, detail: 'simulated trunk error', sipStatus: sipStatusOf[outcome] };
    }
    const { roomId, to, attempt, ringTimeoutSeconds, maxCallSeconds } = request;
    const call: StoredCall = {
      roomId,
      to,
      attempt,
      ringTimeoutSeconds,
      maxCallSeconds,
      placedAt: time.now(),
      placements: 1,
    };
    try {
      if (await insert(call)) {
        follow(call);
        if (callsBack(to)) ringBack(request);
      }
    } catch (error) {
      return { status: 'unknown', detail: `the simulator's store failed: ${String(error)}` };
    }
    if (faults.loseAnswer?.(request)) return { status: 'unknown', detail: 'simulated: the answer was lost' };
    return { status: 'accepted' };
  };

  const inbound = new Set<(call: InboundCall) => void>();
  const pending = new Set<() => void>();

  const ring = (numbers: Pick<InboundCall, 'to' | 'from'>) => {
    if (!running) return;
    const call = { ...numbers, providerCallId: randomUUID(), at: time.now() };
    for (const listener of inbound) listener(call);
  };

  /** Rings back once the call is over; a process that ends meanwhile takes that along. */
  const ringBack = ({ to, from }: CallRequest) => {
    const cancel = time.wakeAt(time.now().getTime() + CALLS_BACK_AFTER / speed, () => {
      pending.delete(cancel);
      ring({ to: from, from: to });
    });
    pending.add(cancel);
  };

  const answerInbound = async ({ from = '' }: InboundCall, { roomId, maxCallSeconds }: InboundAnswer) => {
    const call = { roomId, to: from, attempt: INBOUND, ringTimeoutSeconds: 0, maxCallSeconds };
    const stored: StoredCall = { ...call, placedAt: time.now(), placements: 1 };
    if (await insert(stored)) follow(stored);
  };

  const endCall = async ({ roomId }: CallReference): Promise<'ending' | 'already_ended' | 'absent'> => {
    const own = followed.get(roomId);
    const call = own?.call ?? (await find(roomId));
    if (!call) return 'absent';
    const at = time.now();
    const state = progressOf(call, at);
    if (state.state === 'ended') return 'already_ended';
    const outcome = state.phase === 'answered' ? planOf(call).outcome : 'cancelled';
    // Not followed while its end is written, so that no planned event overtakes it.
    followed.delete(roomId);
    try {
      if (!(await end({ roomId, at, by: 'service', outcome }))) return 'already_ended';
    } catch (error) {
      follow(call, at);
      throw error;
    }
    followed.delete(roomId);
    delivery.deliver([{ roomId, at, type: 'ended', outcome, endedBy: 'service' }]);
    return 'ending';
  };

  const lookup = async ({ roomId }: CallReference): Promise<CallState> => {
    try {
      // From the store, also if the call is followed: another process may have ended it.
      const call = await find(roomId);
      if (!call) return { state: 'absent' };
      // One instant for both: what happens after the state that is answered comes as an event.
      const now = time.now();
      const state = progressOf(call, now);
      if (state.state === 'live') follow(call, now);
      else if (call.ended) followed.delete(roomId);
      return state;
    } catch (error) {
      return { state: 'undetermined', detail: `the simulator's store failed: ${String(error)}` };
    }
  };

  return {
    name: 'simulator',
    capabilities: { numbers: true, trunks: true, simulated: true },
    faults,
    liveCalls: () => followed.size,
    searchNumbers: (search) => searchInventory(store, search),
    buyNumber: (purchase) => buyFromInventory(store, purchase, time.now()),
    lookupNumberPurchase: (idempotencyKey) => findInInventory(store, idempotencyKey),
    releaseNumber: ({ phoneNumber }) => store.release(phoneNumber),
    probeTrunk: async (trunk) => probeSimulatedTrunk(trunk),
    placeCall,
    endCall,
    lookup,
    onEvents: (listener: CallEventListener) => delivery.listen(listener),
    onInbound: (listener) => {
      inbound.add(listener);
      return () => void inbound.delete(listener);
    },
    answerInbound,
    rejectInbound: async () => {},
    ring,
    async start() {
      running = true;
      delivery.open();
    },
    async stop() {
      running = false;
      for (const cancel of pending) cancel();
      pending.clear();
      timeline.clear();
      followed.clear();
      delivery.close();
      await Promise.all([insert.idle(), find.idle(), end.idle()]);
    },
  };
}

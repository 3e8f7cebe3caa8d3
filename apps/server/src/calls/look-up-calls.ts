import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { CallEvent, CallState, TelephonyGateway } from '../telephony/gateway.ts';
import { type HeldCall, referenceOf } from './call.ts';

/** How many calls are looked up at once. */
const LOOK_UP_SIZE = 200;
/**
 * How long after its latest start a call that the provider doesn't know may still be on its way there: its hand-over (1 s),
 * the simulator's patience (2 s) and a transaction of a process that was frozen (3 s).
 */
const ON_ITS_WAY_MS = 6000;
/** How long a provider may be out of reach before a call is closed as `unknown`, never to be redialled by itself. */
const GIVE_UP_MS = 10 * 60_000;

export interface LookUpOptions {
  /** The call of a room that this process holds. */
  callOf: (roomId: string) => HeldCall | undefined;
  clock: Clock;
  log: Logger;
  gatewayFor: (provider: string) => TelephonyGateway;
  record: (events: CallEvent[]) => void;
  /** Takes back calls that the provider surely doesn't know. */
  giveBack: (calls: HeldCall[]) => Promise<void>;
}

/** The calls in doubt that this process holds: only the provider's answer decides what became of them. */
export interface DoubtfulCalls {
  /** Has calls looked up until the provider can say what became of them. */
  watch(calls: readonly HeldCall[]): void;
  lookUp(): Promise<void>;
}

/** Asks providers what became of calls. */
export function createDoubtfulCalls(options: LookUpOptions): DoubtfulCalls {
  const { callOf, clock, log } = options;
  /** Calls in doubt, with the time since when they are. */
  const doubtful = new Map<string, Date>();

  async function lookUp(): Promise<void> {
    const absent: HeldCall[] = [];
    for (const roomId of doubtful.keys()) if (!callOf(roomId)) doubtful.delete(roomId);
    const next = [...doubtful].slice(0, LOOK_UP_SIZE);
    // To the end of the line, so that calls of a provider that is out of reach don't hold up the others.
    for (const [roomId, since] of next) {
      doubtful.delete(roomId);
      doubtful.set(roomId, since);
    }
    const calls = next.map(([roomId]) => callOf(roomId)!);
    await Promise.all(
      calls.map(async (call) => {
        const state = await ask(call);
        if (settle(call, state) === 'absent') absent.push(call);
      }),
    );
    for (const call of absent) doubtful.delete(call.roomId);
    await options.giveBack(absent);
  }

  async function ask(call: HeldCall): Promise<CallState> {
    try {
      return await options.gatewayFor(call.provider).lookup(referenceOf(call));
    } catch (error) {
      log.warn({ err: error, roomId: call.roomId }, 'a call could not be looked up');
      return { state: 'undetermined', detail: 'the provider failed' };
    }
  }

  /** Records what a look-up says. */
  function settle(call: HeldCall, state: CallState): 'settled' | 'absent' | 'open' {
    const now = clock.now();
    const { roomId } = call;
    if (state.state === 'absent') {
      return now.getTime() > call.placeBefore.getTime() + ON_ITS_WAY_MS ? 'absent' : 'open';
    }
    if (state.state === 'undetermined') {
      if (now.getTime() - doubtful.get(roomId)!.getTime() < GIVE_UP_MS) return 'open';
      log.error({ roomId, detail: state.detail }, 'what became of a call can not be known; it is closed as unknown');
      options.record([{ roomId, at: now, type: 'ended', outcome: 'unknown', endedBy: 'error' }]);
    } else {
      options.record(eventsOf(roomId, state));
    }
    doubtful.delete(roomId);
    return 'settled';
  }

  return {
    watch: (calls) => {
      for (const { roomId } of calls) if (!doubtful.has(roomId)) doubtful.set(roomId, clock.now());
    },
    lookUp,
  };
}

/** What a provider would have told of a call, by what it says now. */
function eventsOf(roomId: string, state: Extract<CallState, { state: 'live' | 'ended' }>): CallEvent[] {
  const events: CallEvent[] = [];
  if (state.ringingAt) events.push({ roomId, at: state.ringingAt, type: 'ringing' });
  if (state.answeredAt) events.push({ roomId, at: state.answeredAt, type: 'answered' });
  if (state.state === 'ended') {
    const { state: _, ringingAt: _r, answeredAt: _a, endedAt: at, ...end } = state;
    events.push({ roomId, at, type: 'ended', ...end });
  }
  return events;
}

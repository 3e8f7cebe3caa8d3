import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../foundation/values/clock.ts';
import { withDeadline } from '../../foundation/values/deadline.ts';
import { Shares } from '../../foundation/values/limiter.ts';
import type { CallEvent, CallGateway, CallState } from '../../lines/telephony/call-gateway.ts';
import { type HeldCall, referenceOf } from './call.ts';

/** How many calls are looked up at once. */
const LOOK_UP_SIZE = 200;
/** How long a look waits for answers; those that take longer are waited for beside the next looks. */
const LOOK_MS = 1000;
/** A provider that says nothing for so long is asked again. To end a call over SIP takes 32 s where its peer is silent. */
const ASK_MS = 60_000;
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
  /** Whether what the database says of calls can be trusted now (`RestoreGuard`). */
  mayJudge: () => Promise<boolean>;
  gatewayFor: (provider: string) => CallGateway;
  record: (events: CallEvent[]) => void;
  /** Takes back calls that the provider surely doesn't know. */
  giveBack: (calls: HeldCall[]) => Promise<void>;
}

/** The calls in doubt that this process holds: only the provider's answer decides what became of them. */
export interface DoubtfulCalls {
  /** Has calls looked up until the provider can say what became of them. */
  watch(calls: readonly HeldCall[]): void;
  lookUp(): Promise<void>;
  /** Settles none of them any more. */
  forget(): void;
}

/** Asks providers what became of calls. */
export function createDoubtfulCalls(options: LookUpOptions): DoubtfulCalls {
  const { callOf, clock, log } = options;
  /** Calls in doubt, with the time since when they are. */
  const doubtful = new Map<string, Date>();
  /** Of which the provider is being asked, in places that workspaces share. */
  const asking = new Set<string>();
  const places = new Shares(LOOK_UP_SIZE);
  const isStillHeld = ({ roomId, attempt }: HeldCall) => callOf(roomId)?.attempt === attempt;
  /** Calls that their provider surely doesn't know, to be given back. */
  let absent: HeldCall[] = [];

  async function lookUp(): Promise<void> {
    for (const roomId of doubtful.keys()) if (!callOf(roomId)) doubtful.delete(roomId);
    if (doubtful.size === 0 || !(await options.mayJudge())) return;
    const next = [...doubtful].filter(([roomId]) => {
      const isNext = !asking.has(roomId) && places.take(callOf(roomId)!.workspaceId);
      if (isNext) asking.add(roomId);
      return isNext;
    });
    // To the end of the line, so that calls of a provider that is out of reach don't hold up the others.
    for (const [roomId, since] of next) {
      doubtful.delete(roomId);
      doubtful.set(roomId, since);
    }
    const looks = next.map(([roomId]) => look(callOf(roomId)!));
    if (looks.length > 0) await inTime(LOOK_MS, Promise.all(looks));
    const gone = absent.filter(isStillHeld);
    absent = [];
    for (const call of gone) doubtful.delete(call.roomId);
    await options.giveBack(gone);
  }

  async function look(call: HeldCall): Promise<void> {
    const askedAt = clock.now();
    const state = await ask(call);
    asking.delete(call.roomId);
    places.giveBack(call.workspaceId);
    // What was released meanwhile is in doubt no longer; and what is said of one attempt says nothing of the next.
    if (doubtful.has(call.roomId) && isStillHeld(call) && settle(call, state, askedAt) === 'absent') absent.push(call);
  }

  async function ask(call: HeldCall): Promise<CallState> {
    try {
      return await withDeadline(ASK_MS, () => options.gatewayFor(call.provider).lookup(referenceOf(call)));
    } catch (error) {
      log.warn({ err: error, roomId: call.roomId }, 'a call could not be looked up');
      return { state: 'undetermined', detail: 'the provider failed' };
    }
  }

  /** Records what a look-up says. @param askedAt a call that was on its way then may be there by now */
  function settle(call: HeldCall, state: CallState, askedAt: Date): 'settled' | 'absent' | 'open' {
    const now = clock.now();
    const { roomId } = call;
    if (state.state === 'absent') {
      return askedAt.getTime() > call.placeBefore.getTime() + ON_ITS_WAY_MS ? 'absent' : 'open';
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
    forget: () => doubtful.clear(),
  };
}

/** Waits for something, at most so many milliseconds. */
async function inTime(ms: number, what: Promise<unknown>): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([what, sleep(ms, undefined, { signal }).catch(() => {})]);
  waiting.abort();
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

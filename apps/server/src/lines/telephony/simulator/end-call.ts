import type { CallEvent, CallGateway, CallReference, CallState } from '../call-gateway.ts';
import type { FollowedCalls } from './followed-calls.ts';
import type { GatheredStore } from './gathered-store.ts';
import type { CallPlan } from './plan.ts';
import type { StoredCall } from './progress.ts';
import type { SimulatorTime } from './time.ts';

interface EndDeps extends Pick<GatheredStore, 'find' | 'end'> {
  time: SimulatorTime;
  followed: FollowedCalls;
  planOf(call: StoredCall): CallPlan;
  progressOf(call: StoredCall, now: Date): Extract<CallState, { state: 'live' | 'ended' }>;
  deliver(events: CallEvent[]): void;
}

/** How the simulated provider hangs up. */
export const callEnder =
  ({ time, followed, find, end, planOf, progressOf, deliver }: EndDeps): CallGateway['endCall'] =>
  async ({ roomId }: CallReference) => {
    const call = followed.get(roomId) ?? (await find(roomId));
    if (!call) return 'absent';
    const at = time.now();
    const state = progressOf(call, at);
    if (state.state === 'ended') return 'already_ended';
    const outcome = state.phase === 'answered' ? planOf(call).outcome : 'cancelled';
    // Not followed while its end is written, so that no planned event overtakes it.
    followed.unfollow(roomId);
    try {
      if (!(await end({ roomId, at, by: 'service', outcome }))) return 'already_ended';
    } catch (error) {
      followed.follow(call, at);
      throw error;
    }
    followed.unfollow(roomId);
    deliver([{ roomId, at, type: 'ended', outcome, endedBy: 'service' }]);
    return 'ending';
  };

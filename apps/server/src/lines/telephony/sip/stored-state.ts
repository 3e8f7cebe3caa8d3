import type { UserAgent } from '@trunkline/sip';
import type { Lease } from '../../../foundation/database/lease.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import type { CallReference, CallState, CallTimes } from '../call-gateway.ts';
import type { CallEnded, CallStore } from './call-store.ts';
import { endStoredCall } from './end-stored-call.ts';
import type { InboundDirectory } from './inbound-peers.ts';

interface Parts {
  store: CallStore;
  lease: Pick<Lease, 'serverId'>;
  clock: Clock;
  inbound: Pick<InboundDirectory, 'trunk'>;
  /** None once the server stops. */
  userAgent: UserAgent | undefined;
}

/**
 * What the database knows of a call that this process doesn't hold.
 * A call that nobody placed is refused from now on, so that "absent" stays true.
 * One whose server is gone is ended, since nobody hears it any more.
 */
export const storedState = async (parts: Parts, reference: CallReference): Promise<CallState> => {
  const { store, lease, clock, inbound, userAgent } = parts;
  const { roomId, workspaceId, attempt } = reference;
  const stored = await store.find(roomId);
  if (!stored || (stored.isRefused && stored.attempt < attempt)) {
    const isNew = await store.refuse({ roomId, workspaceId, attempt, serverId: lease.serverId(), at: clock.now() });
    return isNew ? { state: 'absent' } : { state: 'undetermined', detail: 'the call is being placed' };
  }
  if (stored.isRefused) return { state: 'absent' };
  if (stored.ended) return endedState(stored.ended, stored);
  if (stored.isOwned && stored.serverId !== lease.serverId()) {
    return { state: 'undetermined', detail: 'another server holds the call' };
  }
  if (!userAgent) return { state: 'undetermined', detail: 'the server is stopping' };
  const { trunkId } = stored;
  const trunk = trunkId === undefined ? undefined : await inbound.trunk({ workspaceId, trunkId });
  const ended = await endStoredCall(userAgent, stored, clock.now(), trunk);
  await store.end(ended);
  return endedState(ended, stored);
};

/** The state of a call that is over, of its end and its times. */
export const endedState = ({ roomId: _room, type: _type, at, ...end }: CallEnded, times: CallTimes): CallState => ({
  state: 'ended',
  ...end,
  endedAt: at,
  ...timesOf(times),
});

/** When a call rang and was answered, as far as it was. */
export const timesOf = ({ ringingAt, answeredAt }: CallTimes) => ({
  ...(ringingAt && { ringingAt }),
  ...(answeredAt && { answeredAt }),
});

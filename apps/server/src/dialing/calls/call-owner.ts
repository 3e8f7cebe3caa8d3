import { type RawBuilder, sql } from 'kysely';
import type { EngineTx, Tx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import type { CallKey, EndedCall, OwnedCall, PlacedCall, ReturnedCall } from './call.ts';
import type { RecordCallEvents } from './call-events.ts';

/**
 * Whom calls belong to. Calls know nothing of their owners; what must reach upwards is registered with the switchboard,
 * and runs in the transaction that moves the calls. Each owner is given calls of all, and picks out its own.
 */
export interface CallOwner {
  /** SQL, true for those of its queued calls `c` that may be placed at a time, and for no other owner's. */
  mayBePlaced(now: Date): RawBuilder<unknown>;
  /** SQL, true for those of its calls `c` that are placed again under their ID when they are given back. */
  isPlacedAgain?: RawBuilder<unknown>;
  /**
   * Locks its rows, before any of its calls is moved (docs/dialing.md, "Locks"): by one statement, behind which others
   * of the transaction may go out in the same write.
   */
  lock?(tx: Tx, calls: readonly OwnedCall[]): Promise<void>;
  onCallsEnded(tx: Tx, calls: readonly EndedCall[], now: Date): Promise<void>;
  /** Takes back what earlier ends have meant to it: they were not their callees' doing. */
  onCallsSetAside?(tx: Tx, calls: readonly CallKey[], now: Date): Promise<void>;
  onCallsReturned(tx: EngineTx, calls: readonly ReturnedCall[], now: Date): Promise<void>;
  /**
   * Writes those of its calls that a restored database does not have, as calls that have ended as `unknown`, if it has whom
   * they were made for; what their ends mean is told then, as of any end. Its rows are locked.
   */
  recall?(tx: EngineTx, calls: readonly PlacedCall[], now: Date): Promise<EndedCall[]>;
  /** Looks for work at once: calls have ended, which made room for others. */
  nudge?(): void;
}

/** Some owners as one, with webhooks told of every end. A call that was given back after it was started has ended too. */
export const allOwners = (owners: readonly CallOwner[], recordEvents: RecordCallEvents): Required<CallOwner> => ({
  mayBePlaced: (now) =>
    sql`(${sql.join(
      owners.map((owner) => owner.mayBePlaced(now)),
      sql` or `,
    )})`,
  isPlacedAgain: sql`(${sql.join(
    owners.map((owner) => owner.isPlacedAgain ?? sql`false`),
    sql` or `,
  )})`,
  lock: async (tx, calls) => {
    await together(
      tx,
      owners.map((owner) => async () => owner.lock?.(tx, calls)),
    );
  },
  onCallsEnded: async (tx, calls, now) => {
    const tellOwners = async () => {
      for (const owner of owners) await owner.onCallsEnded(tx, calls, now);
    };
    await together(tx, [tellOwners, () => recordEvents(tx, 'call.ended', calls)]);
  },
  onCallsSetAside: async (tx, calls, now) => {
    for (const owner of owners) await owner.onCallsSetAside?.(tx, calls, now);
  },
  onCallsReturned: async (tx, calls, now) => {
    const tellOwners = async () => {
      for (const owner of owners) await owner.onCallsReturned(tx, calls, now);
    };
    const ended = calls.filter((call) => !call.attemptTakenBack && !call.isPlacedAgain);
    await together(tx, [tellOwners, () => recordEvents(tx, 'call.ended', ended)]);
  },
  recall: async (tx, calls, now) => {
    const recalled: EndedCall[] = [];
    for (const owner of owners) recalled.push(...((await owner.recall?.(tx, calls, now)) ?? []));
    return recalled;
  },
  nudge: () => {
    for (const owner of owners) owner.nudge?.();
  },
});

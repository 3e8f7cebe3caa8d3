import { type RawBuilder, sql } from 'kysely';
import type { EngineTx, Tx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import type { AgentKey } from '../../voices/agents/agent-health.ts';
import type { CallKey, EndedCall, OwnedCall, PlacedCall, ReturnedCall } from './call.ts';
import type { RecordCallEvents } from './call-events.ts';

/**
 * Whom calls belong to. Calls know nothing of their owners; what must reach upwards is registered with the switchboard,
 * and runs in the transaction that moves the calls. Each owner is asked about its own calls only, by its kind.
 */
export interface CallOwner {
  /** The kind that its calls bear as `owner_kind`: a word that no other owner has, and that stays as it is. */
  kind: string;
  /** SQL, true for those of its queued calls `c` that may be placed at a time. */
  mayBePlaced(now: Date): RawBuilder<unknown>;
  /** SQL, true for those of its calls `c` that are placed again under their ID when they are given back. */
  isPlacedAgain?: RawBuilder<unknown>;
  /**
   * Locks its rows, before any of its calls is moved (docs/dialing.md, "Locks"): by one statement, behind which others
   * of the transaction may go out in the same write.
   */
  lock?(tx: Tx, calls: readonly OwnedCall[]): Promise<void>;
  onCallsEnded(tx: Tx, calls: readonly EndedCall[], now: Date): Promise<void>;
  /** Takes back what earlier ends have meant to it: they were not their callees' doing. It is given calls of all owners. */
  onCallsSetAside?(tx: Tx, calls: readonly CallKey[], now: Date): Promise<void>;
  onCallsReturned(tx: EngineTx, calls: readonly ReturnedCall[], now: Date): Promise<void>;
  /**
   * Writes those of its calls that a restored database does not have, as calls that have ended as `unknown`, if it has whom
   * they were made for; what their ends mean is told then, as of any end. Its rows are locked.
   */
  recall?(tx: EngineTx, calls: readonly PlacedCall[], now: Date): Promise<EndedCall[]>;
  /** Nobody is to be called for some agents from now on. */
  onAgentsFailing?(tx: EngineTx, agents: readonly AgentKey[]): Promise<void>;
  /** Looks for work at once: calls have ended, which made room for others. */
  nudge?(): void;
}

/** All owners as one. */
export type CallOwners = Required<Omit<CallOwner, 'kind'>>;

/** Some owners as one, with webhooks told of every end. A call that was given back after it was started has ended too. */
export const allOwners = (owners: readonly CallOwner[], recordEvents: RecordCallEvents): CallOwners => ({
  mayBePlaced: (now) => anyOf(owners, (owner) => owner.mayBePlaced(now)),
  isPlacedAgain: anyOf(owners, (owner) => owner.isPlacedAgain ?? sql`false`),
  lock: async (tx, calls) => {
    await together(
      tx,
      ownersOf(owners, calls).map(
        ([owner, own]) =>
          async () =>
            owner.lock?.(tx, own),
      ),
    );
  },
  onCallsEnded: async (tx, calls, now) => {
    const tellOwners = async () => {
      for (const [owner, own] of ownersOf(owners, calls)) await owner.onCallsEnded(tx, own, now);
    };
    await together(tx, [tellOwners, () => recordEvents(tx, 'call.ended', calls)]);
  },
  onCallsSetAside: async (tx, calls, now) => {
    for (const owner of owners) await owner.onCallsSetAside?.(tx, calls, now);
  },
  onCallsReturned: async (tx, calls, now) => {
    const tellOwners = async () => {
      for (const [owner, own] of ownersOf(owners, calls)) await owner.onCallsReturned(tx, own, now);
    };
    const ended = calls.filter((call) => !call.attemptTakenBack && !call.isPlacedAgain);
    await together(tx, [tellOwners, () => recordEvents(tx, 'call.ended', ended)]);
  },
  recall: async (tx, calls, now) => {
    const recalled: EndedCall[] = [];
    for (const [owner, own] of ownersOf(owners, calls)) recalled.push(...((await owner.recall?.(tx, own, now)) ?? []));
    return recalled;
  },
  onAgentsFailing: async (tx, agents) => {
    for (const owner of owners) await owner.onAgentsFailing?.(tx, agents);
  },
  nudge: () => {
    for (const owner of owners) owner.nudge?.();
  },
});

/** SQL, true for calls `c` of which their owner says so. */
const anyOf = (owners: readonly CallOwner[], says: (owner: CallOwner) => RawBuilder<unknown>) =>
  sql`(${sql.join(
    owners.map((owner) => sql`(c.owner_kind = ${sql.lit(owner.kind)} and ${says(owner)})`),
    sql` or `,
  )})`;

/** The owners that some calls have, in the order in which they are registered, each with its own. */
const ownersOf = <T extends OwnedCall>(owners: readonly CallOwner[], calls: readonly T[]): [CallOwner, T[]][] =>
  owners.flatMap((owner): [CallOwner, T[]][] => {
    const own = calls.filter((call) => call.owner.kind === owner.kind);
    return own.length > 0 ? [[owner, own]] : [];
  });

import { type RawBuilder, sql } from 'kysely';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import type { CallGateway } from '../../lines/telephony/call-gateway.ts';
import { every, type Repeating } from '../../platform/jobs/every.ts';
import type { HeldCall } from './call.ts';
import { keysOf, type LiveRow, toHeld } from './call-row.ts';
import { createDoubtfulCalls, type LookUpOptions } from './look-up-calls.ts';
import { isAnyLost, lostServers, overdueCalls, TAKE_OVER_SIZE, takeOverCalls } from './take-over-calls.ts';

/** How often calls in doubt are looked up, in milliseconds. */
const LOOK_UP_MS = 1000;

/** Settles calls in doubt, and takes over those of lost servers. */
export interface CallReconciler {
  /** Has calls that this process holds looked up until the provider can say what became of them. */
  watch(calls: readonly HeldCall[]): void;
  start(): void;
  stop(): Promise<void>;
}

interface ReconcilerOptions extends LookUpOptions {
  database: Database;
  lease: Lease;
  leaseSeconds: number;
  allHeld: () => HeldCall[];
  gateways: ReadonlyMap<string, CallGateway>;
  /** Has this process hold calls no longer. */
  release: (calls: HeldCall[]) => void;
  /** Has this process hold calls that are in doubt. */
  watch: (calls: HeldCall[]) => void;
  /** Takes back those of some calls that are still queued. */
  giveBackQueued: (calls: HeldCall[]) => Promise<void>;
  /** Has all witnesses compared before `mayJudge` answers again. */
  doubt: () => void;
}

/**
 * A lost server's `queued` calls go back: no provider knew of them. Those that were `dialing` or later are looked up,
 * and only the provider's answer decides (dialing.md, "When a server is lost" and "What is not promised").
 */
export function createCallReconciler(options: ReconcilerOptions): CallReconciler {
  const { database, lease, callOf, clock, log } = options;
  const doubtful = createDoubtfulCalls(options);
  let loops: Repeating[] = [];
  let knownAs = lease.serverId();

  /** Tells providers under which server ID this process holds calls from now on. */
  async function moveCalls(tx: EngineTx, roomIds: string[], serverId: string): Promise<void> {
    for (const gateway of new Set(options.gateways.values())) await gateway.moveCalls?.(tx, roomIds, serverId);
  }

  /** After the lease was lost: what another server has taken over or ended is not ours to count any more. */
  async function forgetLost(): Promise<void> {
    const me = lease.serverId();
    if (me === knownAs) return;
    const calls = options.allHeld();
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ id: string }>`
        select c.id from ${keysOf(calls)} join calls c on c.workspace_id = x.workspace_id and c.id = x.id
        where c.ended_at is null and c.server_id = ${me}`.execute(db),
    );
    const ours = new Set(rows.map((row) => row.id));
    options.release(calls.filter(({ roomId }) => !ours.has(roomId)));
    knownAs = me;
  }

  /**
   * Where the database was away, several may have lost their leases at once: who has a new one takes up its own calls, which
   * are up. Who has just started, or saw the gap in its own renewals, leaves the others the time of a lease for theirs.
   */
  async function takeOverAll(): Promise<void> {
    if (lease.leftMs() === 0 || !(await options.mayJudge())) return;
    if (lease.serverId() !== knownAs) {
      while (await takeOver(lostServers.only(knownAs), moveCalls));
      await forgetLost();
    }
    // It may have gone on at a primary that is one no more: what its witness knows is compared before its calls are taken.
    if (await isAnyLost(database, lease.serverId())) {
      options.doubt();
      if (!(await options.mayJudge())) return;
    }
    const isSteady = performance.now() >= lease.steadySince() + options.leaseSeconds * 1000;
    while (await takeOver(isSteady ? lostServers.any : lostServers.stopped));
  }

  /** Answers whether there may be more. @param from the servers that are looked at */
  async function takeOver(from: RawBuilder<unknown>, move?: typeof moveCalls): Promise<boolean> {
    const rows = await takeOverCalls(database, lease.serverId(), log, from, move);
    await settleQueuedAndWatch(rows);
    return rows.length === TAKE_OVER_SIZE;
  }

  async function findOverdue(): Promise<void> {
    if (!(await options.mayJudge())) return;
    await settleQueuedAndWatch(await overdueCalls(database, lease.serverId(), clock.now()));
  }

  /**
   * No provider has heard of a call that is still queued; any other is in doubt. One that this process holds, taken over
   * from itself after its lease was lost, is left to it: it may be about to place it.
   */
  async function settleQueuedAndWatch(rows: LiveRow[]): Promise<void> {
    const queued = rows.filter((row) => row.status === 'queued' && !callOf(row.id));
    await options.giveBackQueued(queued.map(toHeld));
    options.watch(rows.filter((row) => row.status !== 'queued').map(toHeld));
  }

  return {
    watch: doubtful.watch,
    start: () => {
      const leaseMs = options.leaseSeconds * 1000;
      loops = [
        every(LOOK_UP_MS, doubtful.lookUp, { name: 'looking up calls', log }),
        every(leaseMs / 3, takeOverAll, { name: 'taking over calls', log }),
        every(leaseMs, findOverdue, { name: 'finding overdue calls', log }),
      ];
    },
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.close()));
      doubtful.forget();
    },
  };
}

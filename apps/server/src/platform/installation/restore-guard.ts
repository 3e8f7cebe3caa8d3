import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { every, type Repeating } from '../jobs/every.ts';
import { whileQuiet } from '../jobs/quiet.ts';
import { followWitness } from './follow-witness.ts';
import { holdDialing, lockInstallation, raiseWatermark, readCluster, readInstallation } from './installation.ts';
import { OLDER_THAN_SEEN, restoredBecause } from './judge-restore.ts';
import type { Witness } from './witness.ts';

/** While calls are placed the watermark rises this often; past the longest age a placement waits for it. Milliseconds. */
const RAISE_MS = 8000;
const LONGEST_MS = 12_000;
/** How often a server looks whether dialing is held, by whichever server. */
const LOOK_MS = 1000;

/**
 * Keeps a database that was restored from calling people again: calls that were placed after the backup are not in it. A
 * watermark rises while calls are placed, in the database and then in a witness outside it; where the witness knows more,
 * dialing is held in every workspace until the operator has confirmed (operations.md, "After a restore").
 */
export interface RestoreGuard {
  /** The watermark that placements name: in a database that is older, nothing is moved. */
  watermark(): number;
  /** Whether calls may be placed now. Raises the watermark where that is due. */
  mayPlace(): Promise<boolean>;
  /** What an operator should know, a line each. */
  warnings(): string[];
  /** Looks at the database, and then again and again. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export function createRestoreGuard(options: {
  database: Database;
  /** Without one, only another cluster and what this process has seen tell a restored database. */
  witness: Witness | undefined;
  clock: Clock;
  log: Logger;
  registry: Registry;
}): RestoreGuard {
  const { database, clock, log } = options;
  const witness = followWitness(options.witness, database, log);
  let seen = 0;
  let raisedAt = Number.NEGATIVE_INFINITY;
  let raising: Promise<void> | undefined;
  let heldBecause: string | undefined;
  let loops: Repeating[] = [];

  new Gauge({
    name: 'trunkline_dialing_held',
    help: 'Whether dialing is held because the database looks restored: 1, else 0.',
    registers: [options.registry],
    collect() {
      this.set(heldBecause === undefined ? 0 : 1);
    },
  });

  async function raise(): Promise<void> {
    const before = await database.inEngine(readInstallation);
    const testimony = await witness.ask();
    const cluster = await readCluster(database);
    const raised = await database.inEngine(async (tx) => {
      const found = await lockInstallation(tx);
      // What the witness said is of another moment where the watermark has risen since, by another server or a confirmation.
      if (found.held_reason !== null || found.watermark !== before.watermark) return undefined;
      const reason = restoredBecause(found, { witness: testimony, system_identifier: cluster.system_identifier, seen });
      if (reason !== undefined) return holdDialing(tx, reason, clock.now());
      // What had not reached the standby is missing, but no call was placed meanwhile.
      if (found.timeline !== null && cluster.timeline !== null && found.timeline !== cluster.timeline)
        log.warn('the database has a new timeline: a standby was promoted');
      return raiseWatermark(tx, cluster);
    });
    if (!raised) return look();
    seen = raised.watermark;
    raisedAt = performance.now();
    await witness.tell(raised);
  }

  const raiseOnce = (): Promise<void> => {
    raising ??= raise().finally(() => {
      raising = undefined;
    });
    return raising;
  };

  /** Whether dialing is held, and whether the database has become older under a server that runs. */
  async function look(): Promise<void> {
    // What is seen while the row is on its way says nothing of the row.
    const seenBefore = seen;
    const because = await database.inEngine(async (tx) => {
      const found = await readInstallation(tx);
      if (found.held_reason !== null || found.watermark >= seenBefore) return found.held_reason ?? undefined;
      await holdDialing(tx, OLDER_THAN_SEEN, clock.now());
      return OLDER_THAN_SEEN;
    });
    if (because !== undefined && heldBecause === undefined)
      log.error({ because }, 'dialing is held: the database looks restored; see `trunkline-server confirm-restore`');
    if (because === undefined && heldBecause !== undefined) log.info('dialing is no longer held');
    heldBecause = because;
  }

  async function mayPlace(): Promise<boolean> {
    const age = performance.now() - raisedAt;
    if (age < RAISE_MS) return true;
    const raised = raiseOnce();
    if (age >= LONGEST_MS) await raised;
    else raised.catch((error) => log.warn({ err: error }, 'the watermark could not be raised; it is tried again'));
    return performance.now() - raisedAt < LONGEST_MS;
  }

  return {
    watermark: () => seen,
    mayPlace,
    warnings: () => [
      ...(heldBecause === undefined ? [] : [`dialing is held: ${heldBecause}; run trunkline-server confirm-restore`]),
      ...witness.faults(),
    ],
    start: async () => {
      await raiseOnce().catch((error) => log.warn({ err: error }, 'nothing is placed before the witness can be read'));
      await look();
      loops = [
        every(LOOK_MS, look, { name: 'looking whether dialing is held', log, asleep: whileQuiet(database) }),
        // The first call after a rest must not wait for the witness.
        every(RAISE_MS / 2, async () => void (await mayPlace()), { name: 'raising the watermark', log }),
      ];
    },
    close: async () => {
      await Promise.all(loops.map((loop) => loop.close()));
      await raising?.catch(() => {});
    },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import {
  type Cluster,
  holdDialing,
  lockInstallation,
  noteCluster,
  readCluster,
  readInstallation,
} from './installation.ts';
import { type Evidence, knowsMore, OLDER_THAN_SEEN, restoredBecause } from './judge-restore.ts';
import { readNumbers } from './slots.ts';
import type { Witnesses } from './witness.ts';

/** What this process knows of the database's numbers, and whether it is still the database of which it knows them. */
export interface Comparison {
  /** The highest number of a slot that this process has seen; 0 where it has seen none. */
  seen(slot: number): number;
  /** A number that was committed. */
  note(slot: number, number: number): void;
  /** Whether the database is the one that is known; compares all witnesses first where that is in doubt. */
  isSure(): Promise<boolean>;
  /** All is to be compared before it is sure again. */
  doubt(): void;
  /** How often it was in doubt. */
  doubts(): number;
  /** Looks whether dialing is held, and whether the database has become older under a server that runs. */
  look(): Promise<void>;
  heldBecause(): string | undefined;
  /** Why it could not be compared. */
  fault(): string | undefined;
  idle(): Promise<void>;
}

/** How long who waits for a comparison waits; a witness that hangs is one that can't be read. Milliseconds. */
const LONGEST_MS = 10_000;

/** Compares the database with witnesses, and holds dialing where one knows more. */
export function createComparison(options: {
  database: Database;
  witnesses: Witnesses;
  clock: Clock;
  log: Logger;
}): Comparison {
  const { database, witnesses, clock, log } = options;
  const known = new Map<number, number>();
  const note = (slot: number, number: number) => void known.set(slot, Math.max(number, known.get(slot) ?? 0));
  let doubts = 1;
  let comparedAt = 0;
  let comparing: Promise<void> | undefined;
  let heldBecause: string | undefined;
  let fault: string | undefined;

  const setHeld = (because: string | undefined) => {
    if (because !== undefined && heldBecause === undefined)
      log.error({ because }, 'dialing is held: the database looks restored; see `trunkline-server confirm-restore`');
    if (because === undefined && heldBecause !== undefined) log.info('dialing is no longer held');
    heldBecause = because;
  };

  async function compare(): Promise<void> {
    const doubt = doubts;
    // Before the rows: what is told, or seen, while these are on their way says nothing of them.
    // Once a restore is confirmed, what this process alone has seen counts no more: its witness, and its journal, speak.
    const wasHeld = heldBecause !== undefined;
    const seen = new Map(wasHeld ? [] : known);
    const { evidence, cluster } = await gatherEvidence(database, witnesses, seen);
    const because = await database.inEngine((tx) => judge(tx, evidence, cluster, clock.now(), log));
    if (typeof because !== 'string') {
      if (wasHeld) known.clear();
      for (const [slot, number] of because) note(slot, number);
    }
    fault = undefined;
    setHeld(typeof because === 'string' ? because : undefined);
    comparedAt = doubt;
  }

  const compareOnce = (): Promise<void> => {
    comparing ??= compare()
      .catch((error) => {
        if (fault === undefined) log.warn({ err: error }, 'nothing is placed before the witness can be read');
        fault = 'the witness can not be read';
      })
      .finally(() => {
        comparing = undefined;
      });
    return comparing;
  };

  /** It goes on, however long it takes: another one beside it would hang as well. */
  const within = async (work: Promise<void>) => {
    const late = new AbortController();
    const isLate = sleep(LONGEST_MS, true, { signal: late.signal }).catch(() => false);
    if (await Promise.race([work.then(() => false), isLate])) fault = 'the witness can not be read: it does not answer';
    late.abort();
  };

  return {
    seen: (slot) => known.get(slot) ?? 0,
    note,
    isSure: async () => {
      // Once more where a doubt has come up meanwhile.
      for (let again = 0; comparedAt !== doubts && again < 2; again += 1) await within(compareOnce());
      return comparedAt === doubts && heldBecause === undefined;
    },
    doubt: () => {
      doubts += 1;
    },
    doubts: () => doubts,
    look: async () => {
      const [seen, wasHeld] = [new Map(known), heldBecause !== undefined];
      let isConfirmed = false;
      const because = await database.inEngine(async (tx) => {
        const found = await readInstallation(tx);
        isConfirmed = wasHeld && found.held_reason === null;
        if (isConfirmed || found.held_reason !== null || !knowsMore(seen, found.numbers))
          return found.held_reason ?? undefined;
        await holdDialing(tx, OLDER_THAN_SEEN, clock.now());
        return OLDER_THAN_SEEN;
      });
      if (!isConfirmed) return setHeld(because);
      doubts += 1;
      await compareOnce();
    },
    heldBecause: () => heldBecause,
    fault: () => fault,
    idle: async () => comparing && within(comparing),
  };
}

/** What is known beside the database. @param seen what this process has seen, to which its journal adds */
export async function gatherEvidence(
  database: Database,
  { witness, isJournal, readOld }: Witnesses,
  seen = new Map<number, number>(),
): Promise<{ evidence: Evidence; cluster: Cluster; told: Map<number, number> }> {
  const told = await witness.newest(await database.inEngine(readNumbers));
  const old = await readOld();
  const cluster = await readCluster(database);
  if (isJournal) for (const [slot, number] of told) seen.set(slot, Math.max(number, seen.get(slot) ?? 0));
  const { system_identifier } = cluster;
  return { evidence: { witness: isJournal ? null : told, seen, old, system_identifier }, cluster, told };
}

/** Holds dialing where the evidence says so, and answers why; else the numbers of the slots. */
async function judge(
  tx: EngineTx,
  evidence: Evidence,
  cluster: Cluster,
  now: Date,
  log: Logger,
): Promise<string | ReadonlyMap<number, number>> {
  const found = await lockInstallation(tx);
  if (found.held_reason !== null) return found.held_reason;
  const reason = restoredBecause(found, evidence);
  if (reason !== undefined) {
    await holdDialing(tx, reason, now);
    return reason;
  }
  if (found.timeline !== null && cluster.timeline !== null && found.timeline !== cluster.timeline)
    log.warn('the database has a new timeline: a standby was promoted');
  await noteCluster(tx, cluster);
  return found.numbers;
}

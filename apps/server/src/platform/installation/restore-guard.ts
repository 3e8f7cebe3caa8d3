import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import { numberDigester } from '../../foundation/database/number-digest.ts';
import { together } from '../../foundation/database/together.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { coalesce } from '../../foundation/values/coalesce.ts';
import { every, type Repeating } from '../jobs/every.ts';
import { whileQuiet } from '../jobs/quiet.ts';
import {
  holdDialing,
  lockInstallation,
  markWitnessed,
  noteCluster,
  readCluster,
  readInstallation,
} from './installation.ts';
import { knowsMore, OLDER_THAN_SEEN, restoredBecause } from './judge-restore.ts';
import type { ReadOldWitness } from './old-witness.ts';
import { markUnwritten, raiseNumber, readNumbers, takeSlot } from './slots.ts';
import { standbyFault } from './standbys.ts';
import type { Witness, WitnessEntry, WitnessedCall, WitnessedWord } from './witness.ts';
import { createWitnessWriter } from './witness-writer.ts';

/** How often a server looks whether dialing is held, by whichever server; it sleeps while nothing happens. Milliseconds. */
const LOOK_MS = 1000;
/** The most that is told of at once. */
const MOST_WORDS = 1000;
const DAY_MS = 86_400_000;

/** Where a server tells what it does. */
export interface Witnesses {
  witness: Witness;
  /** Whether it is only a journal in this server's folder. */
  isJournal: boolean;
  readOld: ReadOldWitness;
}

/** A call that is about to be placed, as its provider is told of it: absent `owner`, it is one by itself. */
export type CallToWitness = Pick<WitnessedCall, 'workspaceId' | 'roomId' | 'attempt'> & {
  /** E.164. */
  to: string;
  owner?: { kind: 'contact' | 'run'; id: string; campaignId?: string };
};

/** What a set of calls came to. */
export interface Placeable<T> {
  result: T;
  /** Whether they may be placed: a witness knows of them. */
  isWitnessed: boolean;
}

/**
 * Keeps a database that was restored, or that has lost what it had committed, from calling people again. Before a call is
 * placed a number rises in the database, in the transaction without which a look-up finds no call, and then is told to a
 * witness outside it, with the call. Where a witness or this process knows a higher number than the database, dialing is
 * held in every workspace until the operator has confirmed (operations.md, "After a restore").
 */
export interface RestoreGuard {
  /**
   * Whether calls may be placed now. After a start, and after a connection to the database was lost, all witnesses are
   * compared first.
   */
  mayPlace(): Promise<boolean>;
  /** Whether calls may be looked up, taken over and given back now: the database is the one that this process knows. */
  mayJudge(): Promise<boolean>;
  /**
   * Keeps calls that are about to be placed.
   * @param keep does it, in a transaction that may be run again
   * @param callsOf those of its result that would be placed
   */
  keepCalls<T>(
    keep: (tx: EngineTx) => Promise<T>,
    callsOf: (result: T) => readonly CallToWitness[],
  ): Promise<Placeable<T>>;
  /**
   * Has the witness know what was committed before this and forbids calls. Resolves once it is written, or after a second:
   * it is written then as soon as that is possible, and nothing is placed before.
   */
  tell(words: readonly WitnessedWord[]): Promise<void>;
  /** HMAC of a number, E.164, as it is told to the witness. */
  digest(number: string, workspaceId: string): string;
  /** Compares all witnesses before anything else is placed: a connection was lost, or is to another server. */
  doubt(): void;
  /** Why nothing is placed though nothing is held: the witness can't be written. */
  isUnwritten(): boolean;
  /** What an operator should know, a line each. */
  warnings(): string[];
  /** Looks at the database, and then again and again. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export function createRestoreGuard(options: {
  database: Database;
  lease: Pick<Lease, 'serverId'>;
  witnesses: Witnesses;
  /** What numbers are known by outside of the database (`numberKey`). */
  numberKey: string;
  /** After so many days the witness forgets. */
  keepDays: number;
  clock: Clock;
  log: Logger;
  registry: Registry;
}): RestoreGuard {
  const { database, lease, clock, log } = options;
  const { witness, isJournal, readOld } = options.witnesses;
  /** The highest number of each slot that this process has seen in the database. */
  const known = new Map<number, number>();
  const digestOf = numberDigester(options.numberKey);
  const digest = (number: string, workspaceId: string) => digestOf(number.replace('+', ''), workspaceId);
  let slot: { slot: number; serverId: string } | undefined;
  /** Rises whenever all must be compared again. */
  let doubts = 1;
  let comparedAt = 0;
  let comparing: Promise<void> | undefined;
  let heldBecause: string | undefined;
  let fault: string | undefined;
  let turn = Promise.resolve();
  let marking: Promise<void> = Promise.resolve();
  let loops: Repeating[] = [];

  const writer = createWitnessWriter({
    witness,
    log,
    now: () => clock.now(),
    onTurn: () => {
      const mark = () =>
        database.inEngine((tx) => markUnwritten(tx, lease.serverId(), writer.unwrittenSince() ?? null));
      marking = marking.then(mark).catch((error) => log.warn({ err: error }, 'that could not be kept'));
    },
  });

  const gauge = (name: string, help: string, is: () => boolean) =>
    new Gauge({
      ...{ name, help, registers: [options.registry] },
      collect() {
        this.set(Number(is()));
      },
    });
  const isHeld = () => heldBecause !== undefined;
  gauge('trunkline_dialing_held', 'Whether dialing is held because the database looks restored: 1, else 0.', isHeld);
  const isUnwritten = () => writer.unwrittenSince() !== undefined;
  gauge(
    'trunkline_witness_unreachable',
    'Whether nothing is placed since the witness can not be written: 1, else 0.',
    isUnwritten,
  );

  const note = (numbers: ReadonlyMap<number, number>) => {
    for (const [each, number] of numbers) known.set(each, Math.max(number, known.get(each) ?? 0));
  };
  const setHeld = (because: string | undefined) => {
    if (because !== undefined && heldBecause === undefined)
      log.error({ because }, 'dialing is held: the database looks restored; see `trunkline-server confirm-restore`');
    if (because === undefined && heldBecause !== undefined) log.info('dialing is no longer held');
    heldBecause = because;
  };

  async function compare(): Promise<void> {
    const doubt = doubts;
    // Before the rows: what is told, or seen, while these are on their way says nothing of them.
    const seen = new Map(known);
    const told = await witness.newest(await database.inEngine(readNumbers));
    const old = await readOld();
    const cluster = await readCluster(database);
    if (isJournal) for (const [each, number] of told) seen.set(each, Math.max(number, seen.get(each) ?? 0));
    const { system_identifier } = cluster;
    const because = await database.inEngine(async (tx) => {
      const found = await lockInstallation(tx);
      if (found.held_reason !== null) return found.held_reason;
      const reason = restoredBecause(found, { witness: isJournal ? null : told, seen, old, system_identifier });
      if (reason !== undefined) {
        await holdDialing(tx, reason, clock.now());
        return reason;
      }
      if (found.timeline !== null && cluster.timeline !== null && found.timeline !== cluster.timeline)
        log.warn('the database has a new timeline: a standby was promoted');
      await noteCluster(tx, cluster);
      note(found.numbers);
      return undefined;
    });
    fault = undefined;
    setHeld(because);
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

  async function mayJudge(): Promise<boolean> {
    // Once more where a doubt has come up meanwhile.
    for (let again = 0; comparedAt !== doubts && again < 2; again += 1) await compareOnce();
    return comparedAt === doubts && heldBecause === undefined;
  }
  const mayPlace = async () => (await mayJudge()) && !isUnwritten();

  async function ownSlot(): Promise<{ slot: number; serverId: string }> {
    const serverId = lease.serverId();
    while (slot?.serverId !== serverId) {
      const taken = await database.inEngine((tx) => takeSlot(tx, serverId));
      if (taken !== undefined) slot = { slot: taken, serverId };
    }
    return slot;
  }

  /** One at a time: each locks the slot's row. @returns the number, by which the slot is told of what was kept */
  const raise = <T>(keep: (tx: EngineTx) => Promise<T>): Promise<{ result: T; slot: number; number: number }> => {
    const raised = turn.then(async () => {
      const own = await ownSlot();
      const kept = await database.inHotLoop(async (tx) => {
        const raiseOwn = () => raiseNumber(tx, { ...own, known: known.get(own.slot) ?? 0 });
        const [result, number] = await together(tx, [() => keep(tx), raiseOwn]);
        if (number === undefined) throw new NotWitnessed();
        return { result, number };
      });
      known.set(own.slot, kept.number);
      return { ...kept, slot: own.slot };
    });
    turn = raised.then(
      () => {},
      (error) => {
        if (!(error instanceof NotWitnessed)) return;
        // The slot may be another's, too: then nothing is held.
        slot = undefined;
        doubts += 1;
      },
    );
    return raised;
  };

  async function tellSet(words: readonly WitnessedWord[]): Promise<void> {
    const raised = await raise(async () => undefined);
    const entry: WitnessEntry = { number: raised.number, at: new Date().toISOString() };
    const isWritten = await writer.write(raised.slot, words.length > 0 ? { ...entry, words: [...words] } : entry);
    if (isWritten && !isJournal) await database.inEngine(markWitnessed);
  }
  const tellAll = coalesce<readonly WitnessedWord[], void>((all) => tellSet(all.flat()), { atMost: MOST_WORDS });

  /** Whether dialing is held, and whether the database has become older under a server that runs. */
  async function look(): Promise<void> {
    const seen = new Map(known);
    const because = await database.inEngine(async (tx) => {
      const found = await readInstallation(tx);
      if (found.held_reason !== null || !knowsMore(seen, found.numbers)) return found.held_reason ?? undefined;
      await holdDialing(tx, OLDER_THAN_SEEN, clock.now());
      return OLDER_THAN_SEEN;
    });
    setHeld(because);
  }

  return {
    mayPlace,
    mayJudge,
    keepCalls: async (keep, callsOf) => {
      if (!(await mayPlace())) throw new NotWitnessed();
      const before = doubts;
      const { result, slot, number } = await raise(keep);
      const at = new Date().toISOString();
      const calls = callsOf(result).map(({ workspaceId, roomId, attempt, to, owner }): WitnessedCall => {
        const ownedBy = { ownerKind: owner?.kind ?? 'call', ownerId: owner?.id ?? roomId } as const;
        const { campaignId } = owner ?? {};
        const common = { workspaceId, ...ownedBy, ...(campaignId !== undefined && { campaignId }) };
        return { ...common, roomId, attempt, to: digest(to, workspaceId), at };
      });
      const isWritten = await writer.write(slot, { number, at, calls });
      return { result, isWitnessed: isWritten && (before === doubts || (await mayPlace())) };
    },
    tell: (words) =>
      tellAll(words).catch((error) => void log.warn({ err: error }, 'the witness could not be told of a word')),
    digest,
    doubt: () => {
      doubts += 1;
    },
    isUnwritten,
    warnings: () => [
      ...(heldBecause === undefined ? [] : [`dialing is held: ${heldBecause}; run trunkline-server confirm-restore`]),
      ...(fault === undefined ? [] : [fault]),
      ...(isUnwritten() ? ['the witness can not be written: nothing is placed until it can'] : []),
    ],
    start: async () => {
      await mayJudge();
      // So that a witness that can't be written is known before the first call.
      if (heldBecause === undefined) await tellAll([]).catch(() => {});
      await look();
      const fault = await standbyFault(database);
      if (fault) log.warn(fault);
      const cut = () => witness.cut(new Date(Date.now() - options.keepDays * DAY_MS));
      loops = [
        every(LOOK_MS, look, { name: 'looking whether dialing is held', log, asleep: whileQuiet(database) }),
        every(DAY_MS, cut, { name: 'removing what the witness has kept for long', log }),
      ];
    },
    close: async () => {
      await Promise.all(loops.map((loop) => loop.close()));
      await Promise.all([comparing, tellAll.idle()]);
      await turn;
      await writer.close();
      await witness.close();
      await marking;
    },
  };
}

/**
 * Nothing may be placed: no witness knows of it, the database may have lost what this process knows, dialing is held, or the
 * slot is another server's.
 */
export class NotWitnessed extends Error {
  constructor() {
    super('The call was not placed: no witness could be told of it, or the database may have lost calls.');
  }
}

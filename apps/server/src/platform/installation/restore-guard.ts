import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import { numberDigester } from '../../foundation/database/number-digest.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { every, type Repeating } from '../jobs/every.ts';
import { whileQuiet } from '../jobs/quiet.ts';
import { type Comparison, createComparison } from './comparison.ts';
import { createRaiser, NotWitnessed } from './raise-number.ts';
import { markUnwritten } from './slots.ts';
import { standbyFault } from './standbys.ts';
import { createWordTeller, type WordTeller } from './tell-words.ts';
import type { WitnessedCall, Witnesses } from './witness.ts';
import { createWitnessWriter } from './witness-writer.ts';

/** How long the end of a process waits for a witness that hangs, in milliseconds. */
const CLOSE_MS = 2000;
/** How often a server looks whether dialing is held, by whichever server; it sleeps while nothing happens. Milliseconds. */
const LOOK_MS = 1000;
const DAY_MS = 86_400_000;

/** A call that is about to be placed, as its provider is told of it. */
export type CallToWitness = Pick<WitnessedCall, 'workspaceId' | 'roomId' | 'attempt'> & {
  /** E.164. */
  to: string;
  owner: { kind: string; id: string; campaignId?: string };
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
export interface RestoreGuard extends Pick<WordTeller, 'tell' | 'doubts'> {
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
  /** HMAC of a number, E.164, as it is told to the witness. */
  digest(number: string, workspaceId: string): string;
  /** Compares all witnesses before anything else is placed: a connection was lost, or is to another server. */
  doubt(): void;
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
  const { database, lease, witnesses, clock, log } = options;
  const { witness, isJournal } = witnesses;
  const comparison = createComparison({ database, witnesses, clock, log });
  const { raise, idle } = createRaiser({ database, lease, comparison });
  const digestOf = numberDigester(options.numberKey);
  const digest = (number: string, workspaceId: string) => digestOf(number.replace('+', ''), workspaceId);
  let marking: Promise<void> = Promise.resolve();
  let marked: { since: Date | undefined; serverId: string } | undefined;
  let loops: Repeating[] = [];

  const writer = createWitnessWriter({
    witness,
    log,
    clock,
    onTurn: () => {
      marking = marking.then(mark).catch((error) => log.warn({ err: error }, 'that could not be kept'));
    },
  });
  /** Keeps for others to read since when this server's witness can't be written. */
  const mark = async () => {
    const [since, serverId] = [writer.unwrittenSince(), lease.serverId()];
    if (since === marked?.since && serverId === (marked?.serverId ?? serverId)) return;
    await database.inEngine((tx) => markUnwritten(tx, serverId, since ?? null));
    marked = { since, serverId };
  };
  const isUnwritten = () => writer.unwrittenSince() !== undefined;
  registerGuardMetrics(options.registry, () => comparison.heldBecause() !== undefined, isUnwritten);
  const mayPlace = async () => (await comparison.isSure()) && !isUnwritten();

  const words = createWordTeller({ database, comparison, raise, writer, isJournal, clock, log });

  return {
    mayPlace,
    mayJudge: comparison.isSure,
    keepCalls: async (keep, callsOf) => {
      if (!(await mayPlace())) throw new NotWitnessed();
      const before = comparison.doubts();
      const { result, slot, number } = await raise(keep);
      const at = clock.now().toISOString();
      const calls = callsOf(result).map((call) => witnessed(call, digest(call.to, call.workspaceId), at));
      const isWritten = await writer.write(slot, { number, at, calls });
      return { result, isWitnessed: isWritten && (before === comparison.doubts() || (await mayPlace())) };
    },
    tell: words.tell,
    doubts: words.doubts,
    digest,
    doubt: () => {
      words.doubt();
      comparison.doubt();
    },
    warnings: () => warningsOf(comparison, isUnwritten()),
    start: async () => {
      await comparison.isSure();
      // So that a witness that can't be written is known before the first call.
      if (comparison.heldBecause() === undefined) await words.tell([], words.doubts()).catch(() => {});
      await comparison.look();
      const fault = await standbyFault(database);
      if (fault) log.warn(fault);
      const cut = () => witness.cut(new Date(clock.now().getTime() - options.keepDays * DAY_MS));
      const asleep = whileQuiet(database);
      loops = [
        every(LOOK_MS, () => comparison.look().then(mark), { name: 'looking whether dialing is held', log, asleep }),
        every(DAY_MS, cut, { name: 'removing what the witness has kept for long', log }),
      ];
    },
    close: async () => {
      await Promise.all(loops.map((loop) => loop.close()));
      await Promise.all([comparison.idle(), words.idle()]);
      await idle();
      await writer.close();
      await Promise.race([witness.close(), sleep(CLOSE_MS)]);
      await marking;
    },
  };
}

/** A call as a witness keeps it. @param to HMAC of its number */
function witnessed({ workspaceId, roomId, attempt, owner }: CallToWitness, to: string, at: string): WitnessedCall {
  const { kind, id, campaignId } = owner;
  const owned = { ownerKind: kind, ownerId: id, ...(campaignId !== undefined && { campaignId }) };
  return { workspaceId, ...owned, roomId, attempt, to, at };
}

function warningsOf({ heldBecause, fault }: Comparison, isUnwritten: boolean): string[] {
  const [because, unread] = [heldBecause(), fault()];
  return [
    ...(because === undefined ? [] : [`dialing is held: ${because}; run trunkline-server confirm-restore`]),
    ...(unread === undefined ? [] : [unread]),
    ...(isUnwritten ? ['the witness can not be written: nothing is placed until it can'] : []),
  ];
}

function registerGuardMetrics(registry: Registry, isHeld: () => boolean, isUnwritten: () => boolean): void {
  const gauge = (name: string, help: string, is: () => boolean) =>
    new Gauge({
      ...{ name, help, registers: [registry] },
      collect() {
        this.set(Number(is()));
      },
    });
  gauge('trunkline_dialing_held', 'Whether dialing is held because the database looks restored: 1, else 0.', isHeld);
  const help = 'Whether nothing is placed since the witness can not be written: 1, else 0.';
  gauge('trunkline_witness_unreachable', help, isUnwritten);
}

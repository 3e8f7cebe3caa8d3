import { EventEmitter, once } from 'node:events';
import type { KyselyPlugin } from 'kysely';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { numberDigest, numberKey } from '../../../src/foundation/database/number-digest.ts';
import { type Clock, createMachineClock } from '../../../src/foundation/values/clock.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { NotWitnessed } from '../../../src/platform/installation/raise-number.ts';
import { createRestoreGuard, type RestoreGuard } from '../../../src/platform/installation/restore-guard.ts';
import type { Witness, WitnessEntry } from '../../../src/platform/installation/witness.ts';
import { freshDatabase } from '../../database.ts';
import { until } from '../../until.ts';

const log = pino({ level: 'silent' });
const key = numberKey(Buffer.alloc(32, 1));
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let real: Database;
let guards: RestoreGuard[];

beforeEach(async () => {
  fresh = await freshDatabase();
  real = openDatabase({ connection: fresh.connection, poolSize: 4, log, numberKey: key });
  guards = [];
});
afterEach(async () => {
  await Promise.all(guards.map((guard) => guard.close()));
  await real.close();
  await fresh.drop();
});

/** A witness in memory, of which a test can see what was appended. */
function memoryWitness() {
  const kept: { slot: number; entry: WitnessEntry }[] = [];
  const witness: Witness = {
    newest: async () => new Map(kept.map(({ slot, entry }) => [slot, entry.number])),
    above: async function* () {},
    append: async (slot, entries) => void kept.push(...entries.map((entry) => ({ slot, entry }))),
    cut: async () => {},
    close: async () => {},
  };
  return { witness, kept };
}

function openGuard(given: { database?: Database; witness?: Witness; serverId?: () => string; clock?: Clock } = {}) {
  const {
    database = real,
    witness = memoryWitness().witness,
    serverId = newUuid(),
    clock = createMachineClock(),
  } = given;
  const registry = new Registry();
  const guard = createRestoreGuard({
    ...{ database, log, registry, clock, numberKey: key, keepDays: 30 },
    lease: { serverId: typeof serverId === 'function' ? serverId : () => serverId },
    witnesses: { witness, isJournal: false, readOld: async () => undefined },
  });
  guards.push(guard);
  database.onDoubt(guard.doubt);
  return { guard, registry };
}

const byItself = { kind: 'intent', id: newUuid() };
const call = { workspaceId: newUuid(), roomId: byItself.id, owner: byItself, attempt: 1, to: '+14155550100' };
const word = { type: 'pause_dialing' as const, workspaceId: call.workspaceId, at: 'then' };
const nothing = async () => undefined;
const keepOne = (guard: RestoreGuard) => guard.keepCalls(nothing, () => [call]);
/** Has all slots be another server's, which lives. */
const giveSlotsAway = () =>
  real.inEngine(({ db }) =>
    sql`with other as (insert into servers (id, lease_until) values (${newUuid()}, 'infinity') returning id)
      update witness_slots set server_id = (select id from other)`.execute(db),
  );
const setNumbers = (number: number) =>
  real.inEngine(({ db }) => sql`update witness_slots set number = ${number}`.execute(db));

test('a look whose answer comes late, after the number has risen, does not take the database for a restored one', async () => {
  const look = new EventEmitter();
  const isRead = once(look, 'read');
  const lateAnswers: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      const isOfSlots = result.rows.some((row) => 'slot' in row);
      if (isOfSlots && look.emit('read')) await once(look, 'answer');
      return result;
    },
  };
  let isLate = false;
  let looked: Promise<unknown> | undefined;
  const database: Database = {
    ...real,
    inEngine: (work) => {
      if (!isLate) return real.inEngine(work);
      isLate = false;
      const answer = real.inEngine((tx) => work({ ...tx, db: tx.db.withPlugin(lateAnswers) }));
      looked = answer;
      return answer;
    },
  };
  const { guard } = openGuard({ database });
  await guard.start();
  isLate = true;
  await isRead;
  await keepOne(guard);
  look.emit('answer');
  expect(await looked).toBeUndefined();
  expect(guard.warnings()).toEqual([]);
  expect(await guard.mayPlace()).toBe(true);
});

test('a call is told of with its number before it may be placed, and the number as the database knows it', async () => {
  const { witness, kept } = memoryWitness();
  const { guard } = openGuard({ witness });
  const owner = { kind: 'contact' as const, id: newUuid(), campaignId: newUuid() };
  const placed = await guard.keepCalls(
    ({ db }) =>
      sql<{
        digest: Buffer;
      }>`select ${numberDigest(sql`14155550100`, sql`${call.workspaceId}::uuid`)} as digest`.execute(db),
    () => [{ ...call, owner }],
  );
  expect(placed.isWitnessed).toBe(true);
  const to = placed.result.rows[0]!.digest.toString('hex');
  const { to: _, owner: __, ...rest } = call;
  const owned = { ownerKind: 'contact', ownerId: owner.id, campaignId: owner.campaignId };
  expect(kept.at(-1)).toMatchObject({ slot: 1, entry: { number: 1, calls: [{ ...rest, ...owned, to }] } });
});

test('words that come together are told at once, and resolve once they are written', async () => {
  const { witness, kept } = memoryWitness();
  const { guard } = openGuard({ witness });
  const words = [1, 2, 3].map((n) => ({ type: 'pause_dialing' as const, workspaceId: String(n), at: 'now' }));
  await Promise.all(words.map((word) => guard.tell([word], guard.doubts())));
  expect(kept.flatMap(({ entry }) => entry.words ?? [])).toEqual(words);
  expect(kept).toHaveLength(1);
});

test('a database that knows less than this process keeps no call, and is held at the next look', async () => {
  const { guard } = openGuard();
  await keepOne(guard);
  await setNumbers(0);
  await expect(keepOne(guard)).rejects.toThrow(NotWitnessed);
  expect(await guard.mayPlace()).toBe(false);
  expect(guard.warnings()[0]).toContain('older than what this server has seen');
});

test('a lost connection has all witnesses compared before anything is placed or looked up', async () => {
  const { witness, kept } = memoryWitness();
  const { guard } = openGuard({ witness });
  await keepOne(guard);
  kept.push({ slot: 2, entry: { number: 5, at: 'then' } });
  expect(await guard.mayJudge()).toBe(true);
  await real.inEngine(({ db }) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(db)).catch(() => {});
  await until(async () => expect(await guard.mayJudge()).toBe(false));
  expect(await guard.mayPlace()).toBe(false);
  expect(guard.warnings()[0]).toContain('older than its witness');
});

test('a server that lost its lease takes another slot, and holds nothing by that', async () => {
  let serverId = newUuid();
  const { witness, kept } = memoryWitness();
  const { guard } = openGuard({ witness, serverId: () => serverId });
  await keepOne(guard);
  await giveSlotsAway();
  await expect(keepOne(guard)).rejects.toThrow(NotWitnessed);
  serverId = newUuid();
  expect((await keepOne(guard)).isWitnessed).toBe(true);
  expect(kept.map(({ slot }) => slot)).toEqual([1, 2]);
});

test('a slot that was another server’s is written to only if its witness knows no more than its row', async () => {
  let serverId = newUuid();
  const { witness, kept } = memoryWitness();
  const { guard } = openGuard({ witness, serverId: () => serverId });
  await keepOne(guard);
  await giveSlotsAway();
  await real.inEngine(({ db }) =>
    sql`insert into witness_slots (slot, server_id, number) values (2, ${newUuid()}, 2)`.execute(db),
  );
  kept.push({ slot: 2, entry: { number: 5, at: 'then' } });
  serverId = newUuid();
  await expect(keepOne(guard)).rejects.toThrow(NotWitnessed);
  expect(kept).toHaveLength(2);
  expect(guard.warnings()[0]).toContain('older than its witness');
});

test('what was seen of a slot that a confirmed restore does not have holds nothing again', async () => {
  // One that was never told of that slot.
  const witness: Witness = { ...memoryWitness().witness, newest: async () => new Map([[9, 0]]) };
  const { guard } = openGuard({ witness });
  await guard.start();
  await keepOne(guard);
  await real.inEngine(({ db }) =>
    sql`with held as (update installation set held_at = now(), held_reason = 'it is older') delete from witness_slots`.execute(
      db,
    ),
  );
  await until(async () => expect(await guard.mayPlace()).toBe(false));
  await real.inEngine(({ db }) => sql`update installation set held_at = null, held_reason = null`.execute(db));
  await until(async () => expect(await guard.mayPlace()).toBe(true));
  expect(guard.warnings()).toEqual([]);
});

test('a machine whose clock is years ahead has the witness forget nothing, and tells the right time', async () => {
  const now = new Date('2020-03-01T10:00:00Z');
  const { witness, kept } = memoryWitness();
  const cuts: Date[] = [];
  const cut: Witness['cut'] = async (before) => void cuts.push(before);
  const { guard } = openGuard({ witness: { ...witness, cut }, clock: { now: () => now } });
  await guard.start();
  await keepOne(guard);
  await until(() => cuts.length > 0);
  expect(cuts).toEqual([new Date('2020-01-31T10:00:00Z')]);
  expect(new Set(kept.map(({ entry }) => entry.at))).toEqual(new Set([now.toISOString()]));
});

test('a word is told of also where the slot has become another server’s', async () => {
  const serverId = newUuid();
  const { witness, kept } = memoryWitness();
  const { guard } = openGuard({ witness, serverId: () => serverId });
  await keepOne(guard);
  await giveSlotsAway();
  await guard.tell([word], guard.doubts());
  expect(kept.at(-1)).toMatchObject({ slot: 2, entry: { words: [{ type: 'pause_dialing' }] } });
});

test('a word that may be lost with the database is to be sent again', async () => {
  let isAway = false;
  const inHotLoop: Database['inHotLoop'] = (work) =>
    isAway ? Promise.reject(new Error('Connection terminated unexpectedly')) : real.inHotLoop(work);
  const { witness, kept } = memoryWitness();
  const { guard } = openGuard({ database: { ...real, inHotLoop }, witness });
  await keepOne(guard);
  isAway = true;
  await expect(guard.tell([word], guard.doubts())).rejects.toMatchObject({ code: 'unavailable' });
  isAway = false;
  await guard.tell([word], guard.doubts());
  expect(kept.at(-1)).toMatchObject({ entry: { words: [word] } });
});

test('a word is to be sent again if the database may have become another one since its commit', async () => {
  const { witness, kept } = memoryWitness();
  const { guard } = openGuard({ witness });
  const since = guard.doubts();
  guard.doubt();
  await expect(guard.tell([word], since)).rejects.toMatchObject({ code: 'unavailable' });
  await guard.tell([word], guard.doubts());
  expect(kept).toHaveLength(2);
});

test('a word that can not be written within a second is to be sent again, and is written as soon as it can be', async () => {
  const { witness, kept } = memoryWitness();
  const written = new EventEmitter();
  const append: Witness['append'] = (...given) => once(written, 'now').then(() => witness.append(...given));
  const { guard } = openGuard({ witness: { ...witness, append } });
  await expect(guard.tell([word], guard.doubts())).rejects.toMatchObject({ code: 'unavailable' });
  written.emit('now');
  await until(() => kept.length === 1);
});

test('a word is to be sent again while the witness can not be read, and not while dialing is held', async () => {
  const { guard } = openGuard({ witness: { ...memoryWitness().witness, newest: () => Promise.reject(new Error()) } });
  await expect(guard.tell([word], guard.doubts())).rejects.toMatchObject({ code: 'unavailable' });
  const held = openGuard();
  await keepOne(held.guard);
  await setNumbers(0);
  await expect(keepOne(held.guard)).rejects.toThrow(NotWitnessed);
  await until(async () => !(await held.guard.mayPlace()));
  await held.guard.tell([word], held.guard.doubts());
});

test('a set that is not written within a second may not be placed, and nothing else before it is', async () => {
  const { witness, kept } = memoryWitness();
  let isAway = false;
  let release = () => {};
  const away = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { guard, registry } = openGuard({
    witness: {
      ...witness,
      append: (slot, entries) =>
        isAway ? away.then(() => witness.append(slot, entries)) : witness.append(slot, entries),
    },
  });
  expect((await keepOne(guard)).isWitnessed).toBe(true);
  isAway = true;
  expect((await keepOne(guard)).isWitnessed).toBe(false);
  expect(await guard.mayPlace()).toBe(false);
  expect(await guard.mayJudge()).toBe(true);
  expect(guard.warnings()).toEqual(['the witness can not be written: nothing is placed until it can']);
  expect(await registry.metrics()).toContain('trunkline_witness_unreachable 1');
  const since = () =>
    real.inEngine(({ db }) =>
      sql<{ unwritten_since: Date | null }>`select unwritten_since from witness_slots`.execute(db),
    );
  await until(async () => expect((await since()).rows).toEqual([{ unwritten_since: expect.any(Date) }]));
  isAway = false;
  release();
  await until(async () => expect(await guard.mayPlace()).toBe(true));
  expect(kept).toHaveLength(2);
  expect((await keepOne(guard)).isWitnessed).toBe(true);
  await until(async () => expect((await since()).rows).toEqual([{ unwritten_since: null }]));
});

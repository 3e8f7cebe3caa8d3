import { sql } from 'kysely';
import { NIL } from 'uuid';
import { expect, test } from 'vitest';
import { cancelRun } from '../../../src/dialing/workflows/runs/cancel-run.ts';
import { after, goOn } from '../../../src/dialing/workflows/runs/change-run.ts';
import { type ClaimedRun, claimRuns, releaseRuns } from '../../../src/dialing/workflows/runs/claim-runs.ts';
import { freeForgottenRuns, freeLostRuns } from '../../../src/dialing/workflows/runs/take-over-runs.ts';
import { recheckBlocked } from '../../../src/dialing/workflows/runs/unblock-runs.ts';
import { wakeRuns } from '../../../src/dialing/workflows/runs/wake-runs.ts';
import { writeChanges } from '../../../src/dialing/workflows/runs/write-changes.ts';
import type { Database, EngineTx } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { byTest } from '../../by-test.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedRows } from '../../seed/rows.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { testClock } from '../../test-clock.ts';
import { until } from '../../until.ts';
import { analyzeOnOld, readBy, rowsReadBy } from '../claim-cost.ts';
import { expectEqualTurns, seedMany } from './run-cost.ts';

const WOKEN = 500;

/** Runs that sleep for an hour, each with a key of its own, `key-1` and so on. */
async function seedSleepers(database: Database, runs: number) {
  const [workspaceId, workflowId, now] = [await seedWorkspace(database), newUuid(), new Date()];
  const later = new Date(now.getTime() + 3_600_000);
  const sleeping = {
    workspace_id: workspaceId,
    workflow_id: workflowId,
    status: 'waiting_schedule',
    revision: 3,
  } as const;
  const until = { wake_at: later, due_at: later, node_id: 'later' };
  const keys = Array.from({ length: runs }, (_, i) => ({ ...sleeping, ...until, concurrency_key: `key-${i + 1}` }));
  const rows = await seedRows(database, 'workflow_runs', keys);
  const taken = rows.map(({ id, concurrency_key }) => ({ active_run: id, key: concurrency_key! }));
  await seedRows(
    database,
    'concurrency_keys',
    taken.map((each) => ({ ...each, workspace_id: workspaceId })),
  );
  return { workspaceId, workflowId, now, later };
}

/** How many rows it takes to wake 500 runs, to claim them, and to find that nothing more is due. */
async function costs(database: Database, sleeping: number) {
  const { workspaceId, workflowId, now } = await seedSleepers(database, sleeping);
  await analyzeOnOld(database, 'workflow_runs', 'concurrency_keys');
  const keys = Array.from({ length: WOKEN }, (_, i) => `key-${1 + i * Math.floor(sleeping / WOKEN)}`);
  const clock = testClock(now, { stands: true });
  const wake = await rowsReadBy(database, async (counting) => {
    const deps = { database: counting, clock, nudge: () => {} };
    expect(await wakeRuns(deps, workspaceId, workflowId, keys, byTest(workflowId))).toHaveLength(WOKEN);
  });
  const claim = async (most: number) => {
    let claimed = 0;
    const read = await rowsReadBy(database, (counting) =>
      counting.inHotLoop(async (tx) => {
        claimed = (await claimRuns(tx, newUuid(), most, now)).length;
      }),
    );
    return { claimed, read };
  };
  const some = await claim(100);
  expect(some.claimed).toBe(100);
  await claim(WOKEN);
  const none = await claim(100);
  expect(none.claimed).toBe(0);
  const asleep = await database.inEngine(({ db }) =>
    sql<{
      id: string;
    }>`select id from workflow_runs where workspace_id = ${workspaceId} and concurrency_key = 'key-2'`.execute(db),
  );
  const runId = asleep.rows[0]!.id;
  const cancel = await rowsReadBy(database, async (counting) => {
    const deps = {
      database: counting,
      clock,
      nudge: () => {},
      requestEnd: async () => 0,
      nudgeHangUps: () => {},
    };
    await cancelRun(deps, workspaceId, { workflowId, runId }, byTest(runId));
  });
  return { wake, claim: some.read, none: none.read, cancel };
}

test('wakes, claims and cancels read as much among 40,000 sleeping runs as among 2,000', () =>
  withDatabase(async (database) => {
    const few = await costs(database, 2000);
    const many = await costs(database, 40_000);
    for (const cost of [few, many]) {
      expect(cost.wake).toBeLessThan(3 * WOKEN);
      expect(cost.claim).toBeLessThan(400);
      expect(cost.none).toBeLessThan(10);
      expect(cost.cancel).toBeLessThan(20);
    }
  }));

/** Runs that are due at once, after some that have ended; no statistics are taken. */
async function seedDue(database: Database, due: number, ended: number) {
  const [workspaceId, now] = [await seedWorkspace(database), new Date()];
  const run = { workspace_id: workspaceId, workflow_id: newUuid() };
  const states = [
    ...Array.from({ length: due }, () => ({ ...run, due_at: now })),
    ...Array.from({ length: ended }, () => ({ ...run, status: 'completed' as const, ended_at: now })),
  ];
  await seedRows(database, 'workflow_runs', states);
}

/** How many pages it takes to claim runs, move each on by a step, and let go of them. */
const turnCost = async (database: Database, runs: number) => {
  const { pages } = await readBy(database, async (counting) => {
    const now = new Date();
    const claimed = await counting.inHotLoop((tx) => claimRuns(tx, newUuid(), runs, now));
    const changes = claimed.map(({ run }) => goOn(run, 'next', now));
    expect(await counting.inHotLoop((tx) => writeChanges(tx, changes))).toHaveLength(runs);
    const written = changes.map((change) => ({ run: after(change), dueAt: null }));
    await counting.inHotLoop((tx) => releaseRuns(tx, written));
  });
  return pages;
};

test('plans from when there were few runs don’t read all of many', () =>
  withDatabase(async (database) => {
    await seedDue(database, 30, 0);
    // PostgreSQL keeps a plan from the sixth time on.
    for (let turn = 0; turn < 10; turn += 1) await turnCost(database, 3);
    await seedDue(database, 50, 10_000);
    expect(await turnCost(database, 50)).toBeLessThan(100 * 50);
  }));

/** What is done without the hot loop's plans, each with the rows that it reads: about three runs with a key, and their children. */
async function sweepCosts(database: Database, workspaceId: string, turn: string) {
  const [workflowId, now, serverId] = [newUuid(), new Date(), newUuid()];
  const later = new Date(now.getTime() + 3_600_000);
  const run = { workspace_id: workspaceId, workflow_id: workflowId };
  const keys = [1, 2, 3].map((at) => `${turn}-${at}`);
  const sleeping = { ...run, status: 'waiting_schedule', wake_at: later, due_at: later } as const;
  const sleepers = await seedRows(
    database,
    'workflow_runs',
    keys.map((key) => ({ ...sleeping, concurrency_key: key })),
  );
  const parents = sleepers.map(({ id }) => id);
  const [lost] = await seedRows(database, 'workflow_runs', [
    { ...run, status: 'running', server_id: serverId },
    ...parents.map((parent_run_id) => ({ ...sleeping, parent_run_id })),
    { ...run, status: 'blocked', blocked_since: now, due_at: later, looked_at: new Date(0) },
  ]);
  await seedRows(
    database,
    'concurrency_keys',
    sleepers.map(({ id, concurrency_key }) => ({ workspace_id: workspaceId, key: concurrency_key!, active_run: id })),
  );
  const clock = testClock(now, { stands: true });
  const deps = { clock, requestEnd: async () => 0, nudge: () => {}, nudgeHangUps: () => {} };
  const cost = (act: (tx: EngineTx) => Promise<unknown>) => rowsReadBy(database, (counting) => counting.inEngine(act));
  return {
    lost: await cost((tx) => freeLostRuns(tx, now)),
    forgotten: await cost((tx) =>
      freeForgottenRuns(tx, { serverId, inMemory: new Set(), missing: new Map([[lost!.id, '1']]) }, now),
    ),
    blocked: await rowsReadBy(database, (counting) =>
      counting.inHotLoop(async (tx) => expect(await recheckBlocked(tx, now)).toBe(1)),
    ),
    wake: await rowsReadBy(database, (counting) =>
      wakeRuns({ ...deps, database: counting }, workspaceId, workflowId, keys, byTest(workflowId)),
    ),
    cancel: await rowsReadBy(database, (counting) =>
      cancelRun({ ...deps, database: counting }, workspaceId, { workflowId, runId: parents[0]! }, byTest(workflowId)),
    ),
  };
}

test('what is done beside the hot loop reads as much among many runs, by plans from when there was nothing', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    // PostgreSQL keeps a plan from the sixth time on.
    for (let turn = 0; turn < 10; turn += 1) await sweepCosts(database, workspaceId, String(turn));
    await seedMany(database, workspaceId, 20_000);
    let turn = 0;
    // What has been left behind is passed over once no other database's transaction may still want it.
    await until(async () => {
      turn += 1;
      const costs = await sweepCosts(database, workspaceId, `last-${turn}`);
      for (const [act, rows] of Object.entries(costs)) expect(rows, act).toBeLessThan(60);
    });
  }));

/** How many pages it takes to claim, beside signals that nobody waits for, the run of a signal that came after them. */
async function toldCost(database: Database, workspaceId: string, unawaited: number) {
  const waits_for = newUuid();
  const told = { workspace_id: workspaceId, workflow_id: newUuid(), status: 'waiting_call', waits_for } as const;
  const [run] = await seedRows(database, 'workflow_runs', [told]);
  await database.inEngine(({ db }) =>
    sql`
      insert into run_signals
      select workspace_id, id, gen_random_uuid(), '{}', '2026-03-10' from workflow_runs
        where workspace_id = ${workspaceId} and id <> ${run!.id} limit ${unawaited}`.execute(db),
  );
  const signal = { kind: 'call_returned' };
  await database.inEngine(({ db }) =>
    sql`insert into run_signals values (${workspaceId}, ${run!.id}, ${waits_for}, ${signal}, '2026-03-11')`.execute(db),
  );
  const pages: number[] = [];
  for (let claimed = 0; claimed === 0; ) {
    const read = await readBy(database, (counting) =>
      counting.inHotLoop(async (tx) => {
        const runs = await claimRuns(tx, newUuid(), 100, new Date());
        expect(runs).toMatchObject([{ run: { id: run!.id }, signal }].slice(0, runs.length));
        claimed = runs.length;
      }),
    );
    pages.push(read.pages);
  }
  return pages;
}

test('a claim reads as much beside any number of signals that nobody waits for, and deletes them', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    // PostgreSQL keeps a plan from the sixth time on.
    for (let turn = 0; turn < 7; turn += 1) await toldCost(database, workspaceId, 3);
    await seedMany(database, workspaceId, 20_000);
    const pages = await toldCost(database, workspaceId, 20_000);
    expect(pages.length).toBeLessThan(25);
    expect(Math.max(...pages)).toBeLessThan(15_000);
    const { rows } = await database.inEngine(({ db }) => sql`select source from run_signals`.execute(db));
    expect(rows.length).toBeLessThan(10);
  }));

test.each([1, 10, 100])('claims of %i take the runs of every workspace, however many are due of one', (most) =>
  withDatabase(async (database) => {
    const later = (hours: number) => new Date(Date.now() + hours * 3_600_000);
    const now = later(1);
    await seedDue(database, 3000, 0);
    const others = [];
    for (let at = 0; at < 12; at += 1) others.push(await seedWorkspace(database));
    const sleeping = { workflow_id: newUuid(), due_at: later(2) };
    await seedRows(
      database,
      'workflow_runs',
      others.flatMap((workspace_id) => [
        { ...sleeping, workspace_id, status: 'waiting_schedule' as const },
        { workspace_id, workflow_id: newUuid(), due_at: now },
      ]),
    );
    const turns = { after: NIL };
    const served = new Set<string>();
    for (let claim = 0; claim < (most < 100 ? 14 : 2); claim += 1) {
      const runs = await database.inHotLoop((tx) => claimRuns(tx, newUuid(), most, now, turns));
      expect(runs).toHaveLength(most);
      for (const { run } of runs) served.add(run.workspace_id);
    }
    expect(others.filter((id) => !served.has(id))).toEqual([]);
  }),
);

test('runs of every workspace are told, however many signals of one came before', () =>
  withDatabase(async (database) => {
    const told = async (workspace_id: string, count: number, created_at: Date, server_id: string | null = null) => {
      const waiting = { workspace_id, workflow_id: newUuid(), status: 'waiting_call', server_id } as const;
      const rows = Array.from({ length: count }, () => ({ ...waiting, waits_for: newUuid() }));
      const runs = await seedRows(database, 'workflow_runs', rows);
      const signals = runs.map(({ id, waits_for }) => ({ workspace_id, run_id: id, source: waits_for!, created_at }));
      await seedRows(database, 'run_signals', signals);
    };
    const now = new Date();
    const [noisy, others] = [await seedWorkspace(database), [] as string[]];
    for (let at = 0; at < 12; at += 1) others.push(await seedWorkspace(database));
    await told(noisy, 2000, new Date(now.getTime() - 60_000));
    for (const id of others) await told(id, 2, now);
    const elsewhere = newUuid();
    await told(others[0]!, 5, now, elsewhere);
    const heldAndFree = sql`select from workflow_runs where server_id = ${elsewhere} for no key update skip locked`;
    const [turns, served] = [{ after: NIL }, new Map<string, string>()];
    for (let claim = 0; claim < 3; claim += 1) {
      let runs: ClaimedRun[] = [];
      const read = await readBy(database, (counting) =>
        counting.inHotLoop(async (tx) => {
          runs = await claimRuns(tx, newUuid(), 100, now, turns);
          const free = await database.inEngine(({ db }) => heldAndFree.execute(db));
          expect(free.rows).toHaveLength(5);
        }),
      );
      expect(read.pages).toBeLessThan(8000);
      expect(runs).toHaveLength(100);
      for (const { run, signal } of runs) {
        expect(signal).toEqual({ kind: 'call_returned' });
        served.set(run.id, run.workspace_id);
      }
    }
    expect(served.size).toBe(300);
    for (const id of others) expect([...served.values()].filter((each) => each === id)).toHaveLength(2);
  }));

test('a workspace that is the only one due of the first hundred has its turn beside one that stands behind them', () =>
  withDatabase(async (database) => {
    const now = new Date();
    const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
    const run = (workspace_id: string, due_at: Date) => ({ workspace_id, workflow_id: newUuid(), due_at });
    const quiet = await seedWorkspace(database);
    const asleep = [];
    for (let at = 0; at < 100; at += 1) asleep.push(run(await seedWorkspace(database), ago(-60)));
    const noisy = await seedWorkspace(database);
    const backlog = Array.from({ length: 200 }, () => run(noisy, ago(60)));
    await seedRows(database, 'workflow_runs', [run(quiet, ago(1)), ...asleep, ...backlog]);
    const turns = { after: NIL };
    const served = new Set<string>();
    for (let claim = 0; claim < 3; claim += 1)
      for (const { run: taken } of await database.inHotLoop((tx) => claimRuns(tx, newUuid(), 10, now, turns)))
        served.add(taken.workspace_id);
    expect(served).toContain(quiet);
  }));

test('each statement of a turn touches as few buffers beside 20,000 runs as beside 1,000', () =>
  withDatabase((database) => expectEqualTurns(database, 1000, 20_000)));

import fc from 'fast-check';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Definition, Node } from '../../../src/dialing/workflows/definitions/definition.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { ServiceError } from '../../../src/foundation/values/service-error.ts';
import { callOutcomes } from '../../../src/lines/telephony/call-outcome.ts';
import { byTest } from '../../by-test.ts';
import { chances } from '../../chances.ts';
import { seedWorkflow } from '../../seed/workflow.ts';
import { seedNumber, seedWorkspace } from '../../seed/workspace.ts';
import { testClock } from '../../test-clock.ts';
import { expectLaws, watchRuns } from './run-laws.ts';
import { startTestEngine, type TestEngine } from './test-run-engine.ts';

const FROM = '+12125550199';
const KEYS = ['a', 'b', 'c'];
const WORKFLOWS = 3;

/** A node before it knows the others: where it leads is told by numbers. */
interface Sketch {
  type: Node['type'];
  to: number;
  other: number;
  seconds: number;
  flag: boolean;
  workflow: number;
}

const sketch: fc.Arbitrary<Sketch> = fc.record({
  type: fc.constantFrom<Node['type'][]>('set', 'branch', 'wait', 'call', 'http', 'workflow', 'end', 'wait', 'call'),
  to: fc.nat(7),
  other: fc.nat(7),
  seconds: fc.integer({ min: 1, max: 600 }),
  flag: fc.boolean(),
  workflow: fc.nat(WORKFLOWS - 1),
});

/** Any graph, but that only waits lead back: the others take no time, and the clock stands still. */
function definitionOfSketches(sketches: Sketch[], workflowIds: string[]): Definition {
  const last = sketches.length;
  const nodeOf = (each: Sketch, at: number): Node => {
    const id = `n${at}`;
    const title = id;
    const onwards = (by: number) => `n${Math.min(last, at + 1 + (by % 3))}`;
    const anywhere = (by: number) => `n${by % (last + 1)}`;
    const { to, other, flag } = each;
    // One child a workflow: more would be more at each depth.
    const isFurther = sketches.findIndex(({ type }) => type === 'workflow') !== at;
    const type = each.type === 'workflow' && isFurther ? 'set' : each.type;
    switch (type) {
      case 'set':
        return { id, type, title, values: { [`v${to}`]: flag ? `{{v${other}}}` : to }, next: onwards(to) };
      case 'branch': {
        const when = { left: `{{v${to}}}`, operator: 'exists' as const };
        return { id, type, title, cases: [{ when, next: onwards(other) }], next: onwards(to) };
      }
      case 'wait':
        return { id, type, title, seconds: each.seconds, next: anywhere(to) };
      case 'call': {
        const outcomes = flag ? { answered: onwards(other) } : {};
        const to_number = flag ? '+14155550100' : `+1415555${String(2000 + at)}`;
        return { id, type, title, agentId: 'a', fromNumber: FROM, to: to_number, outcomes, next: onwards(to) };
      }
      case 'http':
        return {
          id,
          type,
          title,
          method: 'POST',
          url: 'http://crm.test/',
          retries: other % 3,
          saveAs: `v${other}`,
          next: onwards(to),
          ...(flag && { onError: onwards(other) }),
        };
      case 'workflow':
        return {
          id,
          type,
          title,
          workflowId: toId('wf', workflowIds[each.workflow]!),
          wait: flag,
          next: onwards(to),
          ...(other % 2 && { onError: onwards(other) }),
        };
      case 'end':
        return { id, type, title, status: flag ? 'completed' : 'failed' };
    }
  };
  const nodes = sketches.map(nodeOf);
  nodes.push({ id: `n${last}`, type: 'end', title: 'End', status: 'completed' });
  return { name: 'Random', startNodeId: 'n0', nodes };
}

type Act =
  | { do: 'start'; workflow: number; key: number; idempotencyKey: number; cooldown: number }
  | { do: 'cancel'; which: number }
  | { do: 'wake'; workflow: number; keys: string[] };

const workflow = fc.nat(WORKFLOWS - 1);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('start' as const),
      workflow,
      key: fc.nat(KEYS.length),
      idempotencyKey: fc.nat(30),
      cooldown: fc.constantFrom(0, 0, 5),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(50) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wake' as const), workflow, keys: fc.subarray(KEYS) }) },
);

interface Walk {
  definitions: Sketch[][];
  /** Acts at once, and how many seconds pass afterwards; whether all is quiet before. */
  rounds: { acts: Act[]; seconds: number; quiet: boolean }[];
  seed: number;
}

const walk: fc.Arbitrary<Walk> = fc.record({
  definitions: fc.array(fc.array(sketch, { minLength: 1, maxLength: 7 }), {
    minLength: WORKFLOWS,
    maxLength: WORKFLOWS,
  }),
  rounds: fc.array(
    fc.record({
      acts: fc.array(act, { minLength: 1, maxLength: 6 }),
      seconds: fc.constantFrom(0, 1, 30, 700),
      quiet: fc.boolean(),
    }),
    { minLength: 3, maxLength: 10 },
  ),
  seed: fc.nat(1e6),
});

async function carryOut(database: Database, { definitions, rounds, seed }: Walk): Promise<void> {
  // It stands still but for the rounds, so that what has settled stays so; ahead of what is seeded, for which blocked
  // runs would be looked at again.
  const clock = testClock(new Date(Date.now() + 3_600_000), { stands: true });
  const workspaceId = await seedWorkspace(database);
  // The number is of one workspace at a time: the walk before had it.
  await database.inEngine(({ db }) =>
    db.updateTable('phone_numbers').set({ status: 'released' }).where('phone_number', '=', FROM).execute(),
  );
  await seedNumber(database, workspaceId, FROM);
  const workflowIds = definitions.map(() => newUuid());
  for (const [at, sketches] of definitions.entries()) {
    await seedWorkflow(database, workspaceId, definitionOfSketches(sketches, workflowIds), { id: workflowIds[at]! });
  }
  const random = chances(seed);
  const chance = (n: number) => Math.floor(random() * n);
  const engine = await startTestEngine(database, {
    clock,
    fateOf: () => (chance(6) === 0 ? 'returned' : callOutcomes[chance(callOutcomes.length)]!),
    send: async () => ({ status: [200, 200, 404, 503][chance(4)]!, headers: {}, body: Buffer.from('') }),
  });
  const started = new Map<string, string>();
  try {
    for (const { acts, seconds, quiet } of rounds) {
      await Promise.all(acts.map((each) => perform(engine, database, workspaceId, workflowIds, each, started)));
      if (quiet) await engine.settled();
      clock.advance(seconds * 1000);
    }
    await engine.settled();
  } finally {
    await engine.stop();
  }
  await expectLaws(database, workspaceId);
  // What still sleeps would be the next walk's work.
  await database.inEngine(({ db }) => sql`delete from workflow_runs where workspace_id = ${workspaceId}`.execute(db));
}

async function perform(
  engine: TestEngine,
  database: Database,
  workspaceId: string,
  workflowIds: string[],
  what: Act,
  started: Map<string, string>,
): Promise<void> {
  try {
    if (what.do === 'wake') await engine.wake(workspaceId, workflowIds[what.workflow]!, what.keys);
    else if (what.do === 'cancel') {
      const { rows } = await database.inEngine(({ db }) =>
        sql<{ id: string; workflow_id: string }>`
          select id, workflow_id from workflow_runs where workspace_id = ${workspaceId} order by id`.execute(db),
      );
      const run = rows[what.which % Math.max(1, rows.length)];
      if (run) await engine.cancel(workspaceId, run.workflow_id, run.id);
    } else {
      const idempotencyKey = `start-${what.idempotencyKey}`;
      const { run } = await engine.start(workspaceId, {
        id: newUuid(),
        workflowId: workflowIds[what.workflow]!,
        idempotencyKey,
        concurrencyKey: KEYS[what.key],
        cooldownMinutes: what.cooldown || undefined,
        context: {},
        auditOf: (_action, _type, id) => byTest(id),
      });
      // One run per Idempotency-Key.
      expect(started.get(idempotencyKey) ?? run.id).toBe(run.id);
      started.set(idempotencyKey, run.id);
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(['run_not_active', 'concurrency_conflict', 'cooldown_active', 'idempotency_key_reused']).toContain(
      error.code,
    );
  }
}

/** Random walks over random definitions, each in a workspace of its own: whatever happens, the laws of runs hold. */
export async function walkRuns(database: Database, numRuns: number, seed?: number): Promise<void> {
  await watchRuns(database);
  await fc.assert(
    fc.asyncProperty(walk, (each) => carryOut(database, each)),
    { numRuns, endOnFailure: true, ...(seed !== undefined && { seed }) },
  );
}

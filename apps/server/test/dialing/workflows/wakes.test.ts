import { expect, test } from 'vitest';
import { wakeRuns } from '../../../src/dialing/workflows/runs/wake-runs.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { byTest } from '../../by-test.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { testClock } from '../../test-clock.ts';

test('of many wakes one names the run, though clocks of servers differ', () =>
  withDatabase(async (database) => {
    const [workspaceId, workflow_id, now] = [await seedWorkspace(database), newUuid(), new Date()];
    const later = new Date(now.getTime() + 3_600_000);
    const sleeping = { status: 'waiting_schedule', wake_at: later, due_at: later, node_id: 'later' } as const;
    const wake = (key: string, ahead: number) => {
      const clock = testClock(new Date(now.getTime() + ahead), { stands: true });
      const deps = { database, clock, nudge: () => {} };
      return wakeRuns(deps, workspaceId, workflow_id, [key, key], byTest(workflow_id));
    };
    for (const key of ['in turn', 'at once']) {
      const run = { workspace_id: workspaceId, workflow_id, concurrency_key: key, ...sleeping, updated_at: now };
      const { id } = await seedRow(database, 'workflow_runs', run);
      await seedRow(database, 'concurrency_keys', { workspace_id: workspaceId, key, active_run: id });
    }
    expect([await wake('in turn', 5), await wake('in turn', 0)]).toEqual([['in turn'], []]);
    const woken = await Promise.all([6, 5, 4, 3, 2, 1].map((ahead) => wake('at once', ahead)));
    expect(woken.flat()).toEqual(['at once']);
  }));

import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Definition } from '../../../src/dialing/workflows/definitions/definition.ts';
import { publishWorkflow } from '../../../src/dialing/workflows/definitions/publish-workflow.ts';
import { createWorkflow, replaceDraft } from '../../../src/dialing/workflows/definitions/save-draft.ts';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import type { AuditOf } from '../../../src/platform/journal/audit-of.ts';
import { type AgentDirectory, anyAgent } from '../../../src/voices/agents/directory.ts';
import { freshDatabase } from '../../database.ts';
import { seedNumber, seedWorkspace } from '../../seed/workspace.ts';
import { testClock } from '../../test-clock.ts';

const auditOf: AuditOf = (action, resourceType, resourceId) => ({
  keyId: newUuid(),
  memberId: null,
  action,
  resourceType,
  resourceId,
  address: '127.0.0.1',
  requestId: 'r',
});
const named = (name: string): Definition => ({
  name,
  startNodeId: 'ring',
  nodes: [
    {
      id: 'ring',
      type: 'call',
      title: 'Ring',
      agentId: 'agent_a',
      fromNumber: '+14155550100',
      to: '{{to}}',
      next: 'done',
    },
    { id: 'done', type: 'end', title: 'Done', status: 'completed' },
  ],
});

test('what is published is the draft that was checked, however it changes meanwhile', async () => {
  const fresh = await freshDatabase();
  const database = openDatabase({ connection: fresh.connection, poolSize: 4, log: pino({ level: 'silent' }) });
  try {
    const workspaceId = await seedWorkspace(database);
    await seedNumber(database, workspaceId, '+14155550100');
    const deps = { database, clock: testClock(), agents: anyAgent };
    const { id } = (await createWorkflow(deps, workspaceId, named('First'), auditOf)).made;

    /** Changes the draft while the directory is asked, so many times. */
    const changing = (times: number): AgentDirectory => {
      let left = times;
      return {
        resolve: async (agentId) => {
          left -= 1;
          if (left >= 0) await replaceDraft(deps, workspaceId, id, named(`Change ${left}`), auditOf);
          return { id: agentId, name: agentId };
        },
      };
    };
    const publish = (times: number) =>
      publishWorkflow(
        { ...deps, agents: changing(times) },
        workspaceId,
        id,
        auditOf('workflow.published', 'workflow', id),
      );
    expect(await publish(2)).toMatchObject({ version: 1, definition: { name: 'Change 0' } });
    await expect(publish(100)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await publish(0)).toMatchObject({ version: 2 });
  } finally {
    await database.close();
    await fresh.drop();
  }
});

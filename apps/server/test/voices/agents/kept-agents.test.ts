import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import type { Database } from '../../../src/foundation/database/database.ts';
import { createSecrets } from '../../../src/foundation/database/secrets.ts';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { sealed } from '../../../src/voices/agents/agent.ts';
import { lockAgentRoom } from '../../../src/voices/agents/agent-room.ts';
import type { Agent } from '../../../src/voices/agents/directory.ts';
import { agentsOfCalls } from '../../../src/voices/agents/kept-agents.ts';
import { withLimitsKept } from '../../../src/voices/agents/limits-elsewhere.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedWorkspace } from '../../seed/workspace.ts';

const log = pino({ level: 'silent' });
const secrets = createSecrets(randomBytes(32));

async function seedAgent(database: Database, workspaceId: string, name: string, given = {}): Promise<string> {
  const id = newUuid();
  const secret = sealed(secrets, workspaceId, id, { secret: `secret of ${name}` });
  await seedRow(database, 'agents', { workspace_id: workspaceId, id, name, ...secret, ...given });
  return toId('agent', id);
}

test('the agents of the calls of a moment are read by one statement, and one that can not be read holds up no other', () =>
  withDatabase(async (database) => {
    const [ours, theirs] = [await seedWorkspace(database), await seedWorkspace(database)];
    const anna = await seedAgent(database, ours, 'Anna');
    const berta = await seedAgent(database, theirs, 'Berta');
    const broken = await seedAgent(database, ours, 'Broken', { secret: 'of another key' });
    const elsewhere = { resolve: async (id: string) => ({ id, name: 'Elsewhere' }) };
    const agents = agentsOfCalls(database, secrets, elsewhere, log);
    const read = vi.spyOn(database, 'inEngine');
    const found = await Promise.all([
      agents.resolve(anna, ours),
      agents.resolve(berta, theirs),
      agents.resolve(berta, ours),
      agents.resolve(anna, ours),
      agents.resolve(broken, ours),
      agents.resolve('reception', ours),
    ]);
    expect(read).toHaveBeenCalledTimes(1);
    expect(found.map((agent) => agent?.name)).toEqual(['Anna', 'Berta', undefined, 'Anna', undefined, 'Elsewhere']);
    expect(found[0]!.connection).toMatchObject({ secret: 'secret of Anna' });
  }));

test('the limit of an agent that is known elsewhere is kept as its directory last said it', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const up = { workspace_id: workspaceId, to_number: 1, agent_id: 'reception' };
    await seedRow(database, 'calls', up);
    const said: { agent: Agent | undefined } = { agent: { id: 'reception', name: 'Reception' } };
    const agents = withLimitsKept(database, { resolve: async () => said.agent });
    const left = async (most?: number) => {
      said.agent = { id: 'reception', name: 'Reception', ...(most !== undefined && { maxConcurrentCalls: most }) };
      expect(await agents.resolve('reception', workspaceId)).toBe(said.agent);
      return (await database.inEngine((tx) => lockAgentRoom(tx, workspaceId, 'reception')))?.left;
    };
    expect(await left()).toBeUndefined();
    expect(await left(3)).toBe(2);
    const written = vi.spyOn(database, 'inWorkspace');
    expect(await left(3)).toBe(2);
    expect(written).not.toHaveBeenCalled();
    expect(await left(1)).toBe(0);
    expect(await left()).toBeUndefined();
    expect(await left(2)).toBe(1);
    said.agent = undefined;
    expect(await agents.resolve('reception', workspaceId)).toBeUndefined();
    const others = await seedWorkspace(database);
    expect(await database.inEngine((tx) => lockAgentRoom(tx, others, 'reception'))).toBeUndefined();
  }));

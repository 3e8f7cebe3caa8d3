import { sql } from 'kysely';
import type { Database } from '../../src/database/database.ts';
import { newUuid } from '../../src/ids.ts';
import type { Definition, Node } from '../../src/workflows/definitions/definition.ts';

/** A definition of some nodes; it begins at the first. */
export const definitionOf = (nodes: Node[], given: Partial<Definition> = {}): Definition => ({
  name: 'Test',
  startNodeId: nodes[0]!.id,
  nodes,
  ...given,
});

/** A published workflow, written straight into the database. Answers its UUID. */
export async function seedWorkflow(
  database: Database,
  workspaceId: string,
  definition: Definition,
  { isPublished = true, id = newUuid() } = {},
): Promise<string> {
  const now = new Date();
  const text = JSON.stringify(definition);
  await database.inEngine(async ({ db }) => {
    await sql`
      insert into workflows (workspace_id, id, name, draft, version, published_at, created_at, updated_at)
      values (${workspaceId}, ${id}, ${definition.name}, ${text}, ${isPublished ? 1 : null},
        ${isPublished ? now : null}, ${now}, ${now})`.execute(db);
    if (!isPublished) return;
    await sql`
      insert into workflow_versions (workspace_id, workflow_id, version, definition, created_at)
      values (${workspaceId}, ${id}, 1, ${text}, ${now})`.execute(db);
  });
  return id;
}

export const end = (id = 'done', given: Partial<Node & { type: 'end' }> = {}): Node => ({
  id,
  type: 'end',
  title: id,
  status: 'completed',
  ...given,
});

export const set = (id: string, values: Record<string, unknown>, next = 'done'): Node => ({
  id,
  type: 'set',
  title: id,
  values,
  next,
});

export const wait = (id: string, seconds: number, next = 'done'): Node => ({
  id,
  type: 'wait',
  title: id,
  seconds,
  next,
});

import type { Definition } from '../../src/dialing/workflows/definitions/definition.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import { newUuid } from '../../src/foundation/values/ids.ts';
import { insertRows } from './rows.ts';

/** A published workflow, written straight into the database. Answers its UUID. */
export async function seedWorkflow(
  database: Database,
  workspaceId: string,
  definition: Definition,
  { isPublished = true, id = newUuid() } = {},
): Promise<string> {
  const workspace = { workspace_id: workspaceId };
  const published = isPublished && { version: 1, published_at: new Date() };
  await database.inEngine(async ({ db }) => {
    await insertRows(db, 'workflows', [{ ...workspace, id, name: definition.name, draft: definition, ...published }]);
    if (isPublished) await insertRows(db, 'workflow_versions', [{ ...workspace, workflow_id: id, definition }]);
  });
  return id;
}

import { type RawBuilder, sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import { type Flow, type Flows, flowName } from './flows.ts';

/** A workflow's latest published version. */
export interface LatestFlow {
  workflowId: string;
  version: number;
  flow: Flow;
}

/**
 * The statement that reads the latest version of workflows, null of drafts, and keeps them from being deleted before the end of
 * the transaction. It may be part of another one.
 */
export const readingLatest = (
  workspaceId: string,
  workflowIds: readonly string[],
): RawBuilder<{ id: string; version: number | null }> => sql`
  select id, version from workflows
  where workspace_id = ${workspaceId} and id = any(${[...new Set(workflowIds)]}::uuid[])
  order by id for key share`;

/**
 * The latest versions of workflows of a workspace, by the workflows' IDs, `draft` for one that has none; unknown ones are
 * left out. None of them can be deleted before the end of the transaction.
 */
export async function latestFlows(
  tx: Pick<EngineTx, 'db'>,
  flows: Flows,
  workspaceId: string,
  workflowIds: string[],
): Promise<Map<string, LatestFlow | 'draft'>> {
  const { rows } = await readingLatest(workspaceId, workflowIds).execute(tx.db);
  const keys = rows.flatMap(({ id, version }) =>
    version === null ? [] : [{ workspace_id: workspaceId, workflow_id: id, version }],
  );
  const found = await flows.of(tx, keys);
  return new Map(
    rows.flatMap(({ id, version }): [string, LatestFlow | 'draft'][] => {
      if (version === null) return [[id, 'draft']];
      const flow = found.get(flowName({ workflow_id: id, version }));
      return flow ? [[id, { workflowId: id, version, flow }]] : [];
    }),
  );
}

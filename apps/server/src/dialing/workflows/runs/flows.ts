import { sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import type { Definition, Node } from '../definitions/definition.ts';

/** A published version, as runs follow it. */
export interface Flow {
  definition: Definition;
  nodes: ReadonlyMap<string, Node>;
}

/** Names a published version. */
export interface FlowKey {
  workspace_id: string;
  workflow_id: string;
  version: number;
}

/** The most versions that a process keeps. */
const MOST_KEPT = 500;

/** The published versions that this process has read. They never change. */
export interface Flows {
  /** Those of some runs, by `flowName`. One that is not there is left out: its workflow was deleted. */
  of(tx: Pick<EngineTx, 'db'>, keys: readonly FlowKey[]): Promise<Map<string, Flow>>;
}

export const flowName = ({ workflow_id, version }: Omit<FlowKey, 'workspace_id'>): string =>
  `${workflow_id}/${version}`;

export function createFlows(): Flows {
  const kept = new Map<string, Flow>();

  async function read(tx: Pick<EngineTx, 'db'>, keys: FlowKey[]): Promise<void> {
    const { rows } = await sql<FlowKey & { definition: Definition }>`
      select x.*, v.definition
      from json_to_recordset(${JSON.stringify(keys)}::json) as x (workspace_id uuid, workflow_id uuid, version integer)
      cross join lateral (
        select definition from workflow_versions v where v.workspace_id = x.workspace_id
          and v.workflow_id = x.workflow_id and v.version = x.version limit 1) as v`.execute(tx.db);
    for (const { definition, ...key } of rows) {
      kept.set(flowName(key), { definition, nodes: new Map(definition.nodes.map((node) => [node.id, node])) });
    }
  }

  return {
    async of(tx, keys) {
      const wanted = new Map(keys.map((key) => [flowName(key), key]));
      const missing = [...wanted].filter(([name]) => !kept.has(name)).map(([, key]) => key);
      if (missing.length > 0) await read(tx, missing);
      const found = new Map<string, Flow>();
      for (const name of wanted.keys()) {
        const flow = kept.get(name);
        if (flow) found.set(name, flow);
      }
      for (const name of kept.keys()) {
        if (kept.size <= MOST_KEPT) break;
        kept.delete(name);
      }
      return found;
    },
  };
}

import { sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import { fromId, toId } from '../../../foundation/values/ids.ts';
import type { ErrorDetail } from '../../../foundation/values/service-error.ts';
import type { AgentDirectory } from '../../../voices/agents/directory.ts';
import type { Definition } from './definition.ts';

/** What a node names that lies outside the definition: the field, and what stands there. */
interface Named {
  path: string;
  nodeId: string;
  value: string;
}

/** What a kind of node names in one of its fields. */
function namedIn(definition: Definition, type: 'call' | 'workflow', field: string): Named[] {
  return definition.nodes.flatMap((node, index) => {
    const value = node.type === type ? (node as Record<string, unknown>)[field] : undefined;
    return typeof value === 'string' ? [{ path: `/body/nodes/${index}/${field}`, nodeId: node.id, value }] : [];
  });
}

const faults = (named: Named[], message: (value: string) => string | undefined): ErrorDetail[] =>
  named.flatMap(({ path, nodeId, value }) => {
    const text = message(value);
    return text === undefined ? [] : [{ path, message: text, nodeId }];
  });

/** The agents that the directory doesn't know. Asked outside of a transaction; throws `unavailable` if it can't be. */
export async function checkAgents(
  agents: AgentDirectory,
  workspaceId: string,
  definition: Definition,
): Promise<ErrorDetail[]> {
  const named = namedIn(definition, 'call', 'agentId');
  const ids = [...new Set(named.map(({ value }) => value))];
  const found = await Promise.all(ids.map((id) => agents.resolve(id, workspaceId)));
  const known = new Set(ids.filter((_, index) => found[index]));
  return faults(named, (id) => (known.has(id) ? undefined : `There is no agent ${id}.`));
}

/**
 * The numbers, pools and workflows that a definition names and that the workspace doesn't have, and workflows that were
 * never published. A workflow may start itself.
 */
export async function checkResources(
  tx: WorkspaceTx,
  workflowId: string,
  definition: Definition,
): Promise<ErrorDetail[]> {
  const numbers = namedIn(definition, 'call', 'fromNumber');
  const pools = namedIn(definition, 'call', 'numberPoolId');
  const workflows = namedIn(definition, 'workflow', 'workflowId');
  const values = (named: Named[]) => [...new Set(named.map(({ value }) => value))];
  const ids = (named: Named[]) => values(named).map(fromId);
  const { rows } = await sql<{ kind: string; value: string }>`
    select 'number' as kind, phone_number as value from phone_numbers
    where workspace_id = ${tx.workspaceId} and status <> 'released' and phone_number = any(${values(numbers)}::text[])
    union all select 'pool', id::text from number_pools
    where workspace_id = ${tx.workspaceId} and id = any(${ids(pools)}::uuid[])
    union all select case when version is null then 'draft' else 'workflow' end, id::text from workflows
    where workspace_id = ${tx.workspaceId} and id = any(${ids(workflows)}::uuid[])`.execute(tx.db);
  const found = new Map(rows.map(({ kind, value }) => [kind === 'number' ? value : `${kind} ${value}`, true]));
  const own = toId('wf', workflowId);
  return [
    ...faults(numbers, (number) => (found.has(number) ? undefined : `There is no phone number ${number}.`)),
    ...faults(pools, (id) => (found.has(`pool ${fromId(id)}`) ? undefined : `There is no number pool ${id}.`)),
    ...faults(workflows, (id) => {
      if (id === own || found.has(`workflow ${fromId(id)}`)) return undefined;
      return found.has(`draft ${fromId(id)}`)
        ? `The workflow ${id} is a draft. Publish it first.`
        : `There is no workflow ${id}.`;
    }),
  ];
}

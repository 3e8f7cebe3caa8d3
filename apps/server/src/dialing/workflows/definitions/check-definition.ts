import type { ErrorDetail } from '../../../foundation/values/service-error.ts';
import { checkNode } from './check-node.ts';
import { unsetVariables } from './check-variables.ts';
import type { Definition, Node } from './definition.ts';
import { closure, cyclesWithout, edgesOf, type Graph, graphOf } from './definition-graph.ts';
import { isNeverKey } from './look-up.ts';

/**
 * What is wrong with a definition in itself (workflows.md, "What publishing refuses"): every fault, in the order of the nodes. Whether
 * the workspace has what it names is asked by `checkResources`.
 */
export function checkDefinition(definition: Definition): ErrorDetail[] {
  const { startNodeId, nodes, requiredContext } = definition;
  const graph = graphOf(definition);
  const place = placeOf(nodes);
  const hasStart = graph.nodes.has(startNodeId);
  return inNodeOrder([
    ...(requiredContext ?? []).flatMap((key, index) =>
      isNeverKey(key) ? [fault(`/body/requiredContext/${index}`, `${key} can not be a key of the context.`)] : [],
    ),
    ...(hasStart ? [] : [fault('/body/startNodeId', `There is no node ${startNodeId}.`)]),
    ...(nodes.some(({ type }) => type === 'end') ? [] : [fault('/body/nodes', 'There is no end node.')]),
    ...nodes.flatMap((node, index) => faultsOfNode(graph, node, index)),
    ...(hasStart ? unreachable(graph, startNodeId).map((id) => place(id, '', 'No path leads to this node.')) : []),
    ...endless(graph).map((id) => place(id, '', 'No path leads from this node to an end.')),
    ...cyclesWithout(graph, ({ type }) => type === 'wait' || type === 'call').map((cycle) =>
      place(cycle[0]!, '', `A cycle needs a wait or a call in it; this one has none: ${cycle.join(', ')}.`),
    ),
    ...(hasStart && requiredContext ? unsetVariables(graph, startNodeId, requiredContext) : []).map(
      ({ nodeId, at, key }) =>
        place(nodeId, at, `No path to this node sets ${key}. Set it before, or add it to requiredContext.`),
    ),
  ]);
}

const fault = (path: string, message: string, nodeId?: string): ErrorDetail => ({
  path: path.slice(0, 512),
  message: message.slice(0, 1024),
  ...(nodeId !== undefined && { nodeId }),
});

const pathOf = (index: number, at: string) => `/body/nodes/${index}${at && `/${at}`}`;

/** Makes the fault of a node, by its ID. */
function placeOf(nodes: readonly Node[]) {
  const indexes = new Map(nodes.map(({ id }, index) => [id, index] as const).reverse());
  return (id: string, at: string, message: string) => fault(pathOf(indexes.get(id)!, at), message, id);
}

function faultsOfNode(graph: Graph, node: Node, index: number): ErrorDetail[] {
  const faults = checkNode(node);
  if (graph.nodes.get(node.id) !== node)
    faults.unshift({ at: 'id', message: `Another node is named ${node.id}, too.` });
  for (const { to, at } of edgesOf(node))
    if (!graph.nodes.has(to)) faults.push({ at, message: `There is no node ${to}.` });
  return faults.map(({ at, message }) => fault(pathOf(index, at), message, node.id));
}

function unreachable(graph: Graph, startNodeId: string): string[] {
  const reached = closure([startNodeId], graph.next);
  return [...graph.nodes.keys()].filter((id) => !reached.has(id));
}

/** The nodes from which no end can be reached. An unknown target may be one: it is a fault of its own. */
function endless(graph: Graph): string[] {
  const ends = [...graph.nodes.values()].filter(({ type }) => type === 'end').map(({ id }) => id);
  if (ends.length === 0) return [];
  const unknown = [...graph.nodes.keys()].flatMap(graph.next).filter((id) => !graph.nodes.has(id));
  const ending = closure([...ends, ...unknown], graph.previous);
  return [...graph.nodes.keys()].filter((id) => !ending.has(id));
}

/** Faults by the place of their node; those of no node come first. */
export function inNodeOrder(faults: ErrorDetail[]): ErrorDetail[] {
  const index = ({ path, nodeId }: ErrorDetail) => (nodeId === undefined ? -1 : Number(path.split('/')[3]));
  return faults.toSorted((a, b) => index(a) - index(b));
}
